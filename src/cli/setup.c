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
#include "cli/control.h"
#include "cli/setup_check.h"

#define RUNNING_MS 1900
#define SYSTEMD    "/run/systemd/system" /* exists where systemd is the service manager: sd_booted(3) */

struct setup_options {
    const char *config, *answers, *data, *user;
    bool force, check;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct setup_options, config, "config", "FILE", "file to write [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct setup_options, answers, "answers", "FILE",
                "take answers from lines `NAME = ANSWER`, and defaults for all else, in place of asking"),
    OPTION_TEXT(struct setup_options, data, "data", "DIR", "data directory, unless it is answered [/var/lib/portero]"),
    OPTION_TEXT(struct setup_options, user, "user", "NAME",
                "user of the service, who gets its files when root runs this [" SETUP_USER "]"),
    OPTION_SWITCH(struct setup_options, force, "force",
                  "replace the configuration of a service in production, in place of changing it"),
    OPTION_SWITCH(struct setup_options, check, "check", "ask and write nothing, only repeat the checks"),
};

/* Files that root makes must get to the service's user, so that user must exist. Nobody else can give files away. */
static bool choose_user(const char *given, const char **ret)
{
    struct setup_user u;
    const bool root = geteuid() == 0;
    const char *name = given ? given : SETUP_USER;
    const bool exists = setup_user(name, &u);
    if (root ? exists : !given || (exists && u.uid == geteuid())) {
        *ret = root ? name : NULL;
        return true;
    }
    if (exists)
        complain("only root can set up the service of user %s", name);
    else
        complain("user %s, whom the service runs as, does not exist; make it with `%s`, or name another with --user",
                 name,
                 access("/usr/bin/systemd-sysusers", X_OK)
                     ? "useradd --system --home-dir /var/lib/portero --shell /usr/sbin/nologin " SETUP_USER
                     : "systemd-sysusers");
    return false;
}

static void report(enum setup_result r, const char *what, const char *text)
{
    static const char *const results[] = {[SETUP_OK] = "ok", [SETUP_WARNING] = "warning", [SETUP_FAILED] = "failed"};
    printf("%-8s %s: %s\n", results[r], what, text);
    fflush(stdout);
}

static int check_world(const struct config *c, const char *path, const char *user)
{
    return setup_check(c, path, user, report) == SETUP_FAILED ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the next steps ---- */

/* Whether a service answers at the socket of the data directory. */
static bool is_running(const char *data_dir)
{
    char socket[4096], *why = NULL;
    int status = 0;
    struct buf body = BUF(65536);
    snprintf(socket, sizeof socket, "%s/%s", data_dir, CONTROL_SOCKET);
    const struct control_request q = {
        .socket = socket, .method = "GET", .path = "/admin/health", .wait_ms = RUNNING_MS};
    const bool running = !control_send(&q, &status, &body, &why);
    free(why);
    buf_done(&body);
    return running;
}

static const char *as_user(struct setup *s)
{
    struct setup_user u;
    if (!s->user || !setup_user(s->user, &u) || u.uid == geteuid())
        return "";
    return arena_printf(&s->arena, "runuser -u %s -- ", s->user).p;
}

/* The commands to type, each complete. */
static void print_commands(struct setup *s, const char *config, bool managed, bool running)
{
    if (strcmp(s->answers[Q_STORE], SETUP_SQLITE) != 0 && setup_is_changed(s, Q_STORE))
        printf("    %sportero migrate%s\n", as_user(s), config);
    if (managed)
        printf("    systemctl %s portero\n", running ? "restart" : "enable --now");
    else
        printf("    %sportero serve%s\n", as_user(s), config);
    printf("    portero health%s\n", config);
    for (struct str rest = str_z(s->fresh && !*s->answers[Q_NUMBERS] ? "NUMBER" : s->answers[Q_NUMBERS]), one;
         rest.p;) {
        one = str_trim(str_cut(rest, ',', &rest));
        if (one.n)
            printf("    portero admin number add %.*s%s\n", STR_ARG(one), config);
    }
}

/* The name, unless only this machine knows it. */
static const char *host_for_boxes(struct setup *s)
{
    char own[SETUP_HOST_MAX];
    const bool other = setup_is_known_here_only(s->host) && setup_own_address(own);
    const char *host = other ? own : s->host;
    return arena_printf(&s->arena, strchr(host, ':') ? "[%s]" : "%s", host).p;
}

static void print_door(struct setup *s, const char *config)
{
    const struct str first = str_trim(str_cut(str_z(s->answers[Q_NUMBERS]), ',', &(struct str){0}));
    const char *port = strrchr(s->answers[Q_SIP], ':');
    if (port)
        printf("\nThe call box dials sip:%.*s@%s%s (UDP or TCP).\n", STR_ARG(first.n ? first : STR("NUMBER")),
               host_for_boxes(s), port);
    printf("Residents sign in at %s/ by e-mail; the first sign-in makes the account.\n", s->answers[Q_PUBLIC_URL]);
    if (!*s->answers[Q_PBX])
        printf("Without a PBX you verify their phones: portero admin phone verify EMAIL --number NUMBER%s\n", config);
    printf("From here to an open door: %s/docs/first-door\n", s->answers[Q_PUBLIC_URL]);
}

/* systemd has the service of the packaged configuration only. */
static void print_next(struct setup *s, int checked, bool running)
{
    const bool packaged = strcmp(s->path, CONFIG_DEFAULT_PATH) == 0, managed = packaged && access(SYSTEMD, F_OK) == 0;
    const char *config = packaged ? "" : arena_printf(&s->arena, " --config %s", s->path).p;
    if (checked != EXIT_DONE)
        printf("\nRepair what failed, in %s or around it, then repeat the checks:\n    portero setup --check%s\n",
               s->path, config);
    printf("\n%s, %s:\n", checked == EXIT_DONE ? "Next" : "Then",
           !running  ? "start the service and give it the numbers"
           : managed ? "restart the service, so that it reads the configuration"
                     : "end the running service, and start it again, so that it reads the configuration");
    print_commands(s, config, managed, running);
    print_door(s, config);
}

/* ---- the command ---- */

static int set_up(struct setup *s, const struct setup_options *o)
{
    if (!choose_user(o->user, &s->user) || (s->answers_path && !setup_read_answers(s)) || !setup_begin(s, o->force) ||
        !setup_ask(s))
        return EXIT_USAGE;
    struct config *c = setup_write(s);
    if (!c)
        return EXIT_USAGE;
    fflush(stdout);
    const bool running =
        is_running(c->top_data_dir) ||
        (s->present && strcmp(s->present->top_data_dir, c->top_data_dir) != 0 && is_running(s->present->top_data_dir));
    const int checked = check_world(c, s->path, s->user);
    config_free(c);
    print_next(s, checked, running);
    return checked;
}

static int check_again(const struct setup_options *o, const char *path)
{
    struct config *c;
    const char *user;
    char *why = NULL;
    if (!choose_user(o->user, &user))
        return EXIT_USAGE;
    int result = EXIT_USAGE;
    if (checks_load(path, NULL, 0, &c, &why)) {
        complain_lines(why);
    } else {
        result = check_world(c, path, user);
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
        return check_again(o, s.path);
    arena_init(&s.arena, NULL, 0);
    const char *slash = strrchr(s.path, '/');
    char *directory = mem_strndup(slash ? s.path : ".", slash ? (size_t)(slash - s.path) : 1);
    char *real = realpath(directory, NULL);
    s.directory = real ? real : directory;
    const int result = set_up(&s, o);
    config_free(s.present);
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
