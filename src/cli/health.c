/* porterod health: whether the running service is ready, for the health check of a container. */
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/json.h"
#include "base/terminal.h"
#include "cli/configured.h"
#include "cli/control.h"
#include "cli/program.h"

#define WAIT_MS 1900 /* all ends within two seconds; readiness answers after 1.5 at the latest */

struct health_options {
    const char *config, *data;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct health_options, config, "config", "FILE",
                "configuration file of the service [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct health_options, data, "data", "DIR",
                "data directory of the service [from the configuration]; no configuration is read then"),
};

static int print_health(int status, struct str body)
{
    json_t *answer = NULL, *reason;
    size_t i;
    if (status != 200 || json_read(body, &answer)) {
        complain("the service responded %d", status);
        return EXIT_FAILED;
    }
    const bool ready = json_is_true(json_object_get(answer, "ready"));
    fputs(ready ? "ready" : "not ready", stdout);
    json_array_foreach (json_object_get(answer, "reasons"), i, reason) {
        terminal_print(stdout, "%s %s", i ? "," : ":", json_string_value(reason));
    }
    putchar('\n');
    json_decref(answer);
    return ready ? EXIT_DONE : EXIT_FAILED;
}

static int ask_health(const char *data_dir)
{
    char socket[4096];
    char *why = NULL;
    int status = 0, result = EXIT_FAILED;
    struct buf body = BUF(4096);
    snprintf(socket, sizeof socket, "%s/%s", data_dir, CONTROL_SOCKET);
    const struct control_request q = {.socket = socket, .method = "GET", .path = "/admin/health", .wait_ms = WAIT_MS};
    if (control_send(&q, &status, &body, &why))
        complain("%s", why);
    else
        result = print_health(status, buf_view(&body));
    free(why);
    buf_done(&body);
    return result;
}

static int health_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct health_options *o = given;
    if (o->data && !o->config)
        return ask_health(o->data);
    struct config *config = configured_load(o->config, o->data);
    if (!config)
        return EXIT_USAGE;
    const int result = ask_health(config->top_data_dir);
    config_free(config);
    return result;
}

const struct command command_health = {
    .name = "health",
    .summary = "Tell whether the running service is ready; exit status 0: it is",
    COMMAND_OPTIONS(struct health_options, rows),
    .run = health_run,
};
