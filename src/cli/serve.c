/* porterod serve: runs the service until SIGTERM or SIGINT. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loaded.h"
#include "base/log.h"
#include "cli/absence.h"
#include "cli/activation.h"
#include "cli/checks.h"
#include "cli/daemon.h"
#include "cli/lifecycle.h"
#include "cli/manager.h"
#include "cli/process.h"
#include "cli/program.h"
#include "cli/starting.h"
#include "store/store.h"

struct serve_options {
    const char *config, *data, *https, *http, *sip, *trace;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct serve_options, config, "config", "FILE", "configuration file [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct serve_options, data, "data", "DIR", "data directory [from the configuration]"),
    OPTION_TEXT(struct serve_options, https, "https", "A:P", "HTTPS address; port 0 takes a free port"),
    OPTION_TEXT(struct serve_options, http, "http", "A:P", "plain HTTP address"),
    OPTION_TEXT(struct serve_options, sip, "sip", "A:P", "SIP address"),
    OPTION_TEXT(struct serve_options, trace, "sip-trace", "FILE",
                "file that gets every SIP message, with secrets masked"),
};

static enum err serve_load(const struct serve_options *o, struct config **ret, char **ret_why)
{
    const struct config_override overrides[] = {{"--data", "top", "data_dir", o->data},
                                                {"--https", "listen", "https", o->https},
                                                {"--http", "listen", "http", o->http},
                                                {"--sip", "listen", "sip", o->sip},
                                                {"--sip-trace", "voice", "trace", o->trace}};
    return checks_load_start(o->config, overrides, sizeof overrides / sizeof *overrides, ret, ret_why);
}

static void set_log_level(const struct config *c)
{
    static const char *const names[] = {
        [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], c->top_log_level))
            log_set_level((enum log_level)i);
}

static void set_log_format(const struct config *c)
{
    log_set_format(strcmp(c->log_format, "json") == 0 ? LOG_JSON : LOG_TEXT);
}

static void warn_of_root(void)
{
    if (geteuid() == 0)
        log_warn("running_as_root advice=run as a dedicated user that owns data_dir; no privileges are needed");
}

/* As on a terminal and in the journal. */
static bool are_outputs_one(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
           out.st_ino == err.st_ino;
}

/* The addresses go to standard output, and to the log unless that is the same. */
static void print_ready(struct daemon *d)
{
    char text[512];
    daemon_addresses(d, text, sizeof text);
    lifecycle_set(LIFECYCLE_READY);
    printf("ready%s\n", text);
    fflush(stdout);
    const bool told = are_outputs_one();
    log_info("%s%s mode=%s version=%s", told ? "started" : "ready", told ? "" : text, daemon_config(d)->top_mode,
             PORTERO_VERSION);
    manager_ready(d);
}

/* Waits for SIGTERM or SIGINT. SIGHUP reloads the certificates. */
static void wait_for_signal(struct daemon *d)
{
    int got;
    while ((got = signals_wait()) == SIGHUP) {
        manager_reloading();
        daemon_reload(d);
        manager_ready(d);
    }
    log_info("stopping signal=%s", sigabbrev_np(got));
}

static void write_reason(char *ret, size_t size)
{
    const char *store = store_waits_for(), *part = daemon_starts();
    char absent[ABSENCE_TEXT];
    if (absence_reason(absent, sizeof absent))
        snprintf(ret, size, "store reason=\"%s\"", absent);
    else if (store)
        snprintf(ret, size, "store reason=\"%s\"", store);
    else
        snprintf(ret, size, "part=\"%s\"", part ? part : "");
}

/* From the signal on, readiness checks fail. */
static void stop_daemon(struct daemon *d)
{
    lifecycle_set(LIFECYCLE_STOPPING);
    manager_stopping();
    signals_release();
    daemon_stop(d);
    manager_forget();
    daemon_free(d);
    log_info("stopped");
}

/* Starts the daemon. *ret_signal is the signal that has arrived meanwhile, or 0. */
static enum err start_daemon(const struct config *config, struct daemon **ret, int *ret_signal, char **ret_why)
{
    signals_hold();
    if (starting_watch(write_reason) || manager_begin(write_reason))
        return err_why(ret_why, ERR_IO, "not enough file descriptors or threads");
    enum err e = daemon_start(config, ret, ret_why);
    *ret_signal = starting_ended();
    return e;
}

/* Only a configuration that check-config refuses too has EXIT_USAGE, after which systemd does not try again. Anything
 * else may pass, or be repaired elsewhere. */
static int serve_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct serve_options *o = given;
    struct config *config = NULL;
    struct daemon *daemon = NULL;
    char *why = NULL;
    int got = 0, status = EXIT_FAILED;
    process_open_standard();
    enum err e = serve_load(o, &config, &why);
    if (!e) {
        e = activation_take(config, &why);
    }
    if (!e) {
        loaded_configuration(config);
        set_log_level(config);
        set_log_format(config);
        process_prepare(config->production);
        e = start_daemon(config, &daemon, &got, &why);
    }
    if (!e) {
        warn_of_root();
        if (!got) {
            print_ready(daemon);
            wait_for_signal(daemon);
        }
        stop_daemon(daemon);
        status = EXIT_DONE;
    } else if (!config) {
        complain_lines(why);
        status = EXIT_USAGE;
    } else {
        complain("%s", why);
    }
    manager_end();
    free(why);
    config_free(config);
    return got ? EXIT_DONE : status;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "Run the service",
    COMMAND_OPTIONS(struct serve_options, rows),
    .run = serve_run,
};
