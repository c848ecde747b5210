/* portero setup: asks for what a service without outside accounts needs, writes its configuration, and checks the world
 * around it. */
#include "cli/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/setup_check.h"

struct setup_options {
    const char *config, *answers, *data;
    bool force, check;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct setup_options, config, "config", "FILE", "file to write [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct setup_options, answers, "answers", "FILE",
                "take answers from lines `NAME = ANSWER`, and defaults for all else, in place of asking"),
    OPTION_TEXT(struct setup_options, data, "data", "DIR", "data directory, unless it is answered [/var/lib/portero]"),
    OPTION_SWITCH(struct setup_options, force, "force", "replace the configuration of a service in production"),
    OPTION_SWITCH(struct setup_options, check, "check", "ask and write nothing, only repeat the checks"),
};

/* The user of the service; NULL: it is the caller. */
static const char *service_user(void)
{
    struct setup_user u;
    return geteuid() == 0 && setup_user(SETUP_USER, &u) ? SETUP_USER : NULL;
}

static void report(enum setup_result r, const char *what, const char *text)
{
    static const char *const results[] = {[SETUP_OK] = "ok", [SETUP_WARNING] = "warning", [SETUP_FAILED] = "failed"};
    printf("%-8s %s: %s\n", results[r], what, text);
    fflush(stdout);
}

static int check_world(const struct config *c)
{
    return setup_check(c, service_user(), report) == SETUP_FAILED ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the next steps ---- */

/* The commands to type, each complete. */
static void print_commands(const struct setup *s, const char *config, bool packaged)
{
    const char *numbers = *s->answers[Q_NUMBERS] ? s->answers[Q_NUMBERS] : "NUMBER";
    if (*s->answers[Q_STORE])
        printf("    %sportero migrate%s\n", service_user() ? "runuser -u " SETUP_USER " -- " : "", config);
    if (packaged)
        printf("    systemctl enable --now portero\n");
    else
        printf("    portero serve%s\n", config);
    printf("    portero health%s\n", config);
    for (struct str rest = str_z(numbers), one; rest.p;) {
        one = str_trim(str_cut(rest, ',', &rest));
        printf("    portero admin number add %.*s%s\n", STR_ARG(one), config);
    }
}

static void print_next(struct setup *s, int checked)
{
    const bool packaged = strcmp(s->path, CONFIG_DEFAULT_PATH) == 0;
    const char *config = packaged ? "" : arena_printf(&s->arena, " --config %s", s->path).p;
    const struct str first = str_cut(str_z(s->answers[Q_NUMBERS]), ',', &(struct str){0});
    const char *port = strrchr(s->answers[Q_SIP], ':');
    if (checked != EXIT_DONE)
        printf("\nRepair what failed, in %s or around it, then repeat the checks:\n    portero setup --check%s\n",
               s->path, config);
    printf("\n%s, start the service and give it the numbers:\n", checked == EXIT_DONE ? "Next" : "Then");
    print_commands(s, config, packaged);
    printf("\nThe call box dials sip:%.*s@%s%s (UDP or TCP).\n", STR_ARG(first.n ? first : STR("NUMBER")), s->host,
           port);
    printf("Residents sign in at %s/ by e-mail; the first sign-in makes the account.\n", s->answers[Q_PUBLIC_URL]);
    if (!*s->answers[Q_PBX])
        printf("Without a PBX you verify their phones: portero admin phone verify EMAIL --number NUMBER%s\n", config);
    printf("From here to an open door: " SETUP_GUIDE "\n");
}

/* ---- the command ---- */

static int set_up(struct setup *s, const struct setup_options *o)
{
    if ((s->answers_path && !setup_read_answers(s)) || (!o->force && !setup_may_write(s->path)) || !setup_ask(s))
        return EXIT_USAGE;
    struct config *c = setup_write(s);
    if (!c)
        return EXIT_USAGE;
    fflush(stdout);
    const int checked = check_world(c);
    config_free(c);
    print_next(s, checked);
    return checked;
}

static int check_again(const char *path)
{
    struct config *c;
    char *why = NULL;
    int result = EXIT_USAGE;
    if (checks_load(path, NULL, 0, &c, &why)) {
        complain_lines(why);
    } else {
        result = check_world(c);
        config_free(c);
    }
    free(why);
    return result;
}

static int setup_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct setup_options *o = given;
    struct setup s = {.path = o->config ? o->config : CONFIG_DEFAULT_PATH,
                      .answers_path = o->answers,
                      .data_dir = o->data,
                      .interactive = isatty(STDIN_FILENO) && !o->answers};
    if (o->check)
        return check_again(s.path);
    arena_init(&s.arena, NULL, 0);
    const char *slash = strrchr(s.path, '/');
    char *directory = mem_strndup(slash ? s.path : ".", slash ? (size_t)(slash - s.path) : 1);
    char *real = realpath(directory, NULL);
    s.directory = real ? real : directory;
    const int result = set_up(&s, o);
    free(real);
    free(directory);
    arena_done(&s.arena);
    return result;
}

const struct command command_setup = {
    .name = "setup",
    .summary = "Ask for the settings of a service without outside accounts, and write its configuration",
    COMMAND_OPTIONS(struct setup_options, rows),
    .run = setup_run,
};
