/* A command of a program as it is typed, in this process: what it prints, and its exit status. */
#pragma once
#include <fcntl.h>
#include <string.h>
#include <termios.h>
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

/* Runs the command with the words, which blanks separate. Returns its exit status. */
static inline int typed_run(const struct program *p, const char *words)
{
    char line[1024], name[16], *argv[TYPED_WORDS + 2] = {name}, *rest = NULL;
    int argc = 1;
    snprintf(name, sizeof name, "%s", p->name);
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(argc <= TYPED_WORDS);
        argv[argc++] = word;
    }
    return command_main(p, argc, argv);
}

static inline int typed(const struct program *p, const char *words, char out[static TYPED_MAX],
                        char err[static TYPED_MAX])
{
    struct captured outs, errs;
    capture(&outs, stdout);
    capture(&errs, stderr);
    const int status = typed_run(p, words);
    release(&errs, stderr, err);
    release(&outs, stdout, out);
    return status;
}

/* With a terminal as standard output; `out` is what it got, at most 4095 bytes. */
static inline int typed_on_terminal(const struct program *p, const char *words, char out[static TYPED_MAX])
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY), kept = dup(STDOUT_FILENO);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    struct termios raw;
    assert_int_equal(tcgetattr(terminal, &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(terminal, TCSANOW, &raw), 0);
    fflush(stdout);
    assert_true(dup2(terminal, STDOUT_FILENO) >= 0);
    const int status = typed_run(p, words);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    const ssize_t n = read(master, out, TYPED_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    close(kept);
    close(terminal);
    close(master);
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
