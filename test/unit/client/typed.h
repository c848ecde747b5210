/* A command of a program as it is typed, in this process: what it prints, and its exit status. */
#pragma once
#include <string.h>
#include <unistd.h>

#include "base/unit.h"
#include "client/command.h"

#define TYPED_MAX   65536 /* bytes of an output; the rest is cut off */
#define TYPED_WORDS 16

struct captured {
    int fd, kept;
    FILE *file;
};

static inline void capture(struct captured *c, FILE *stream)
{
    fflush(stream);
    c->fd = fileno(stream);
    c->kept = dup(c->fd);
    c->file = tmpfile();
    assert_non_null(c->file);
    assert_true(dup2(fileno(c->file), c->fd) >= 0);
}

static inline void release(struct captured *c, FILE *stream, char ret[static TYPED_MAX])
{
    fflush(stream);
    assert_true(dup2(c->kept, c->fd) >= 0);
    close(c->kept);
    rewind(c->file);
    ret[fread(ret, 1, TYPED_MAX - 1, c->file)] = '\0';
    fclose(c->file);
}

static inline int typed(const struct program *p, const char *words, char out[static TYPED_MAX],
                        char err[static TYPED_MAX])
{
    char line[1024], name[16], *argv[TYPED_WORDS + 2] = {name}, *rest = NULL;
    int argc = 1;
    struct captured outs, errs;
    snprintf(name, sizeof name, "%s", p->name);
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(argc <= TYPED_WORDS);
        argv[argc++] = word;
    }
    capture(&outs, stdout);
    capture(&errs, stderr);
    const int status = command_main(p, argc, argv);
    release(&errs, stderr, err);
    release(&outs, stdout, out);
    return status;
}

/* Replaces each `from` by the shorter `to`, for a name that differs each time. */
static inline void typed_replace(char *text, const char *from, const char *to)
{
    const size_t n = strlen(from), m = strlen(to);
    for (char *at; (at = strstr(text, from));) {
        memmove(at + m, at + n, strlen(at + n) + 1);
        memcpy(at, to, m);
    }
}
