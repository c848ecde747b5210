/* porterod rekey: has the running service seal its secrets with the new master key. */
#include "base/config.h"
#include "cli/admin_ask.h"
#include "cli/configured.h"
#include "cli/program.h"

struct rekey_options {
    const char *config, *data;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct rekey_options, config, "config", "FILE",
                "configuration file of the service [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct rekey_options, data, "data", "DIR", "data directory of the service [from the configuration]"),
    OPTION_SWITCH(struct rekey_options, json, "json", "print the raw JSON response"),
};

static int rekey_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct rekey_options *o = given;
    struct config *config = configured_load(o->config, o->data);
    if (!config)
        return EXIT_USAGE;
    const int status = admin_ask(config->top_data_dir, "POST", "/admin/rekey", NULL, o->json);
    config_free(config);
    return status;
}

static void rekey_help(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nFirst set secrets.master_key to the new key and secrets.previous_master_key to the old one, and restart "
          "the\n"
          "service; if several services share the store, restart them all. Afterwards secrets.previous_master_key can "
          "be\n"
          "removed at the next restart.\n",
          out);
}

const struct command command_rekey = {
    .name = "rekey",
    .summary = "Seal the secrets of the running service with a new master key",
    .more = rekey_help,
    COMMAND_OPTIONS(struct rekey_options, rows),
    .run = rekey_run,
};
