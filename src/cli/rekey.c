/* portero rekey: the running service seals its secrets with a new master key. */
#include <stdlib.h>

#include "base/config.h"
#include "cli/admin.h"
#include "cli/command.h"

struct rekey_options {
    const char *config, *data;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct rekey_options, config, "config", "FILE",
                "the service's configuration [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct rekey_options, data, "data", "DIR", "the service's data directory, in place of the file's"),
    OPTION_SWITCH(struct rekey_options, json, "json", "prints the service's answer as it is"),
};

static int run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct rekey_options *o = given;
    struct config *config = NULL;
    char *why = NULL;
    const struct config_override data = {"--data", "top", "data_dir", o->data};
    if (config_load_with(o->config, &data, 1, &config, &why)) {
        command_complain_lines(why ? why : "out of memory");
        free(why);
        return EXIT_USAGE;
    }
    const int status = admin_ask(config->top_data_dir, "POST", "/admin/rekey", NULL, o->json);
    config_free(config);
    return status;
}

static void explain(FILE *out)
{
    fputs("\nGive the service both keys first, the new one as secrets.master_key and the one in use as\n"
          "secrets.previous_master_key, and restart it; with several services on one store, all of them.\n"
          "Afterwards the previous key may go at the next restart.\n",
          out);
}

const struct command command_rekey = {
    .name = "rekey",
    .summary = "seals the running service's secrets with a new master key",
    .more = explain,
    COMMAND_OPTIONS(struct rekey_options, rows),
    .run = run,
};
