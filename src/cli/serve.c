/* portero serve: runs the service until a signal ends it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/daemon.h"
#include "cli/notify.h"
#include "cli/process.h"

struct serve_options {
    const char *config, *data, *https, *http, *sip;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct serve_options, config, "config", "FILE", "the configuration [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct serve_options, data, "data", "DIR", "the data directory, in place of the file's"),
    OPTION_TEXT(struct serve_options, https, "https", "A:P", "address of the HTTPS port; port 0 takes a free one"),
    OPTION_TEXT(struct serve_options, http, "http", "A:P", "address of the plain HTTP port"),
    OPTION_TEXT(struct serve_options, sip, "sip", "A:P", "address of the SIP port"),
};

static enum err load(const struct serve_options *o, struct config **ret, char **ret_why)
{
    const struct config_override overrides[] = {{"--data", "top", "data_dir", o->data},
                                                {"--https", "listen", "https", o->https},
                                                {"--http", "listen", "http", o->http},
                                                {"--sip", "listen", "sip", o->sip}};
    return checks_load(o->config, overrides, sizeof overrides / sizeof *overrides, ret, ret_why);
}

static void set_log_level(const struct config *c)
{
    static const char *const names[] = {
        [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], c->top_log_level))
            log_set_level((enum log_level)i);
}

static void warn_of_ignored(const char *key, const char *value)
{
    log_warn("config_ignored key=%s value=%s reason=this version does not have it", key, value);
}

static void warn(const struct config *c)
{
    checks_ignored(c, warn_of_ignored);
    if (geteuid() == 0)
        log_warn("running_as_root advice=run it as a user of its own, which needs no privilege but data_dir");
}

static void tell(const char *state)
{
    if (notify_send(state))
        log_warn("notify_failed state=%s reason=%s", state, strerror(errno));
}

static void print_ready(const struct daemon *d)
{
    char text[512];
    daemon_addresses(d, text, sizeof text);
    printf("ready%s\n", text);
    fflush(stdout);
    log_info("ready%s mode=%s version=%s", text, daemon_config(d)->top_mode, PORTERO_VERSION);
    tell("READY=1");
}

/* Returns when the service is to end. */
static void live(struct daemon *d)
{
    int got;
    while ((got = signals_wait()) == SIGHUP)
        daemon_reload(d);
    log_info("stopping signal=%s", sigabbrev_np(got));
    tell("STOPPING=1");
}

static int run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct serve_options *o = given;
    struct config *config = NULL;
    struct daemon *daemon = NULL;
    char *why = NULL;
    process_open_standard();
    enum err e = load(o, &config, &why);
    if (!e) {
        set_log_level(config);
        process_prepare(config->production);
        signals_hold();
        e = daemon_start(config, &daemon, &why);
    }
    if (!e) {
        warn(config);
        print_ready(daemon);
        live(daemon);
        signals_let_go();
        daemon_stop(daemon);
        log_info("stopped");
    } else if (!config) {
        command_complain_lines(why);
    } else {
        command_complain("%s", why ? why : "the service cannot start");
    }
    free(why);
    config_free(config);
    return e == ERR_NONE ? EXIT_DONE : e == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "runs the service",
    COMMAND_OPTIONS(struct serve_options, rows),
    .run = run,
};
