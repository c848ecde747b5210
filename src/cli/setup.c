/* porterod setup: asks for what a service without outside accounts needs, writes its configuration, and checks the
 * world around it. */
#include "cli/setup.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "cli/checks.h"
#include "cli/control.h"
#include "cli/program.h"
#include "cli/setup_check.h"

#define ANSWER_WAIT_MS 5000
#define SYSTEMD        "/run/systemd/system" /* exists where systemd is the service manager: sd_booted(3) */
#define SHELL_PLAIN    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_.,:@/"

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

static void print_setup_result(enum setup_result r, const char *what, const char *text)
{
    static const char *const results[] = {[SETUP_OK] = "ok", [SETUP_WARNING] = "warning", [SETUP_FAILED] = "failed"};
    terminal_print(stdout, "%-8s %s: %s", results[r], what, text);
    putchar('\n');
    fflush(stdout);
}

/* ---- the running service ---- */

enum running { RUNNING_NOT, RUNNING_OUTDATED, RUNNING_CURRENT };

/* The state of the service that answers at the socket of the data directory; NULL: none does. */
static json_t *ask_running_service(const char *data_dir)
{
    char socket[4096], *why = NULL;
    int status = 0;
    struct buf body = BUF(65536);
    json_t *state = NULL;
    snprintf(socket, sizeof socket, "%s/%s", data_dir, CONTROL_SOCKET);
    const struct control_request q = {
        .socket = socket, .method = "GET", .path = "/admin/status", .wait_ms = ANSWER_WAIT_MS};
    if (!control_send(&q, &status, &body, &why) && json_read(buf_view(&body), &state))
        state = json_object();
    free(why);
    buf_done(&body);
    return state;
}

/* Tells what the running service does not have of its files yet. */
static enum running check_running(const char *data_dir)
{
    json_t *state = ask_running_service(data_dir), *change;
    const json_t *changes = json_object_get(state, "to_apply");
    const bool current = json_is_array(changes) && json_array_size(changes) == 0;
    size_t i;
    json_array_foreach (changes, i, change) {
        print_setup_result(SETUP_WARNING, "service", json_string_value(change));
    }
    if (current)
        print_setup_result(SETUP_OK, "service", "runs with the configuration and the certificate as they are now");
    const enum running running = !state ? RUNNING_NOT : current ? RUNNING_CURRENT : RUNNING_OUTDATED;
    json_decref(state);
    return running;
}

static int check_world(const struct config *c, const char *path, const char *user, enum running *ret_running)
{
    const enum setup_result worst = setup_check(c, path, user, print_setup_result);
    *ret_running = check_running(c->top_data_dir);
    return worst == SETUP_FAILED ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the next steps ---- */

static const char *as_user(struct setup *s)
{
    struct setup_user u;
    if (!s->user || !setup_user(s->user, &u) || u.uid == geteuid())
        return "";
    return arena_printf(&s->arena, "runuser -u %s -- ", s->user).p;
}

/* The word as a shell takes it: a path may have blanks, an e-mail address may have ' and $. */
static const char *shell_word(struct setup *s, struct str word)
{
    const char *text = arena_str(&s->arena, word).p;
    if (strspn(text, SHELL_PLAIN) == word.n)
        return text;
    char *quoted = g_shell_quote(text);
    text = arena_str(&s->arena, str_z(quoted)).p;
    g_free(quoted);
    return text;
}

/* The next item of a list with commas; *rest is its end, STR_NONE behind the last one. */
static struct str next_item(struct str *rest)
{
    struct str item = STR("");
    while (rest->p && !item.n)
        item = str_trim(str_cut(*rest, ',', rest));
    return item;
}

static size_t count_items(const char *list)
{
    size_t n = 0;
    for (struct str rest = str_z(list); next_item(&rest).n;)
        n++;
    return n;
}

/* The accounts to make. A question that is not answered leaves a word in its place for a new service. */
static void print_residents(struct setup *s, const char *config)
{
    struct str rest = str_z(s->answers[Q_RESIDENTS]), one = next_item(&rest);
    if (!one.n && !s->fresh)
        return;
    printf("    porterod admin account add %s", shell_word(s, one.n ? one : STR("EMAIL")));
    while ((one = next_item(&rest)).n)
        printf(" %s", shell_word(s, one));
    printf("%s\n", config);
}

/* Each number with its resident, if there are as many of both. */
static void print_numbers(struct setup *s, const char *config)
{
    const char *numbers = s->fresh && !*s->answers[Q_NUMBERS] ? "NUMBER" : s->answers[Q_NUMBERS];
    const bool paired = count_items(numbers) == count_items(s->answers[Q_RESIDENTS]);
    const bool assigned = s->fresh || s->present->assigned;
    struct str residents = paired ? str_z(s->answers[Q_RESIDENTS]) : STR_NONE;
    for (struct str rest = str_z(numbers), one; (one = next_item(&rest)).n;) {
        const struct str email = next_item(&residents);
        printf("    porterod admin number add %.*s", STR_ARG(one));
        if (assigned)
            printf(" --account %s", shell_word(s, email.n ? email : STR("EMAIL")));
        printf("%s\n", config);
    }
}

/* The commands to type, each complete. */
static void print_commands(struct setup *s, const char *config, bool managed, enum running running)
{
    if (strcmp(s->answers[Q_STORE], SETUP_SQLITE) != 0 && setup_is_changed(s, Q_STORE))
        printf("    %sporterod migrate%s\n", as_user(s), config);
    if (managed && running != RUNNING_CURRENT)
        printf("    systemctl %s portero\n", running ? "restart" : "enable --now");
    else if (running != RUNNING_CURRENT)
        printf("    %sporterod serve%s\n", as_user(s), config);
    printf("    porterod health%s\n", config);
    print_residents(s, config);
    print_numbers(s, config);
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
    printf("Residents sign in at %s/ by e-mail; %s.\n", s->answers[Q_PUBLIC_URL],
           s->fresh || s->present->listed ? "`porterod admin account add EMAIL` lets another one in"
                                          : "the first sign-in makes the account");
    if (!*s->answers[Q_PBX])
        printf("Without a PBX you verify their phones: porterod admin phone verify EMAIL --number NUMBER%s\n", config);
    printf("From here to an open door: %s/docs/first-door\n", s->answers[Q_PUBLIC_URL]);
}

/* systemd has the service of the packaged configuration only. */
static void print_next(struct setup *s, int checked, enum running running)
{
    const bool packaged = strcmp(s->path, CONFIG_DEFAULT_PATH) == 0, managed = packaged && access(SYSTEMD, F_OK) == 0;
    const char *config = packaged ? "" : arena_printf(&s->arena, " --config %s", shell_word(s, str_z(s->path))).p;
    if (checked != EXIT_DONE)
        printf("\nRepair what failed, in %s or around it, then repeat the checks:\n    porterod setup --check%s\n",
               s->path, config);
    printf("\n%s, %s:\n", checked == EXIT_DONE ? "Next" : "Then",
           running == RUNNING_NOT       ? "start the service and tell it who has which number"
           : running == RUNNING_CURRENT ? "see whether the service, which has this configuration, is ready"
           : managed                    ? "restart the service, so that it reads the configuration"
                     : "end the running service, and start it again, so that it reads the configuration");
    print_commands(s, config, managed, running);
    print_door(s, config);
}

/* ---- the command ---- */

static int ask_write_and_check(struct setup *s, const struct setup_options *o)
{
    if (!choose_user(o->user, &s->user) || (s->answers_path && !setup_read_answers(s)) || !setup_begin(s, o->force) ||
        !setup_ask(s))
        return EXIT_USAGE;
    struct config *c = setup_write(s);
    if (!c)
        return EXIT_USAGE;
    fflush(stdout);
    enum running running;
    const int checked = check_world(c, s->path, s->user, &running);
    if (running == RUNNING_NOT && s->present && strcmp(s->present->top_data_dir, c->top_data_dir) != 0)
        running = check_running(s->present->top_data_dir);
    config_free(c);
    print_next(s, checked, running);
    return checked;
}

static int check_finished_setup(const struct setup_options *o, const char *path)
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
        enum running unused;
        result = check_world(c, path, user, &unused);
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
        return check_finished_setup(o, s.path);
    arena_init(&s.arena, NULL, 0);
    const char *slash = strrchr(s.path, '/');
    char *directory = mem_strndup(slash ? s.path : ".", slash ? (size_t)(slash - s.path) : 1);
    char *real = realpath(directory, NULL);
    s.directory = real ? real : directory;
    const int result = ask_write_and_check(&s, o);
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
