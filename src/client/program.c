#include "client/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/operation.h"

#define SERVICE_PROGRAM "porterod"
#define LINKS_MAX       8    /* one after the other */
#define LINK_LENGTH_MAX 4096 /* bytes */

static const struct command *const commands[] = {
#define CLIENT(name) &command_##name,
#include "tbl/commands.def"
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const char *const service_commands[] = {
#define SERVICE(name, words) words,
#include "tbl/commands.def"
    NULL};

static const struct command *client_at(size_t i)
{
    return i < COMMAND_COUNT ? commands[i] : operation_noun(i - COMMAND_COUNT);
}

static bool client_is_operation(const struct command *c)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i] == c)
            return false;
    return true;
}

/* The path that the link at `own` leads to; NULL if it is no link. The caller frees it. */
static char *follow_link(const char *own, int directory_n)
{
    char to[LINK_LENGTH_MAX];
    const ssize_t n = readlink(own, to, sizeof to);
    if (n <= 0 || n == sizeof to)
        return NULL;
    return *to == '/' ? mem_strndup(to, (size_t)n) : mem_printf("%.*s/%.*s", directory_n, own, (int)n, to);
}

/* Runs the program in the directory of this one, or where a link to this one leads, if it was called by a path; returns
 * if there is none. */
static void run_neighbour(char **argv)
{
    char *own = strchr(argv[0], '/') ? mem_strdup(argv[0]) : NULL;
    for (int links = 0; own && links < LINKS_MAX; links++) {
        const int directory_n = (int)(strrchr(own, '/') - own);
        char *path = mem_printf("%.*s/" SERVICE_PROGRAM, directory_n, own);
        execv(path, argv);
        free(path);
        char *to = follow_link(own, directory_n);
        free(own);
        own = to;
    }
    free(own);
}

static int run_service_program(const char *command, char **argv)
{
    run_neighbour(argv);
    execvp(SERVICE_PROGRAM, argv);
    complain("%s is a command of the service: the program " SERVICE_PROGRAM " %s", command,
             errno == ENOENT ? "is not installed; it is in the package of this name" : strerror(errno));
    return EXIT_FAILED;
}

const struct program client_program = {
    .name = COMMAND_CLIENT,
    .sentence = "Portero answers the door. These commands are for residents and agents.",
    .at = client_at,
    .is_operation = client_is_operation,
    .others = service_commands,
    .run_other = run_service_program,
};
