#include "cli/configured.h"

#include <stdlib.h>

#include "client/complain.h"
#include "client/options.h"

struct config *configured_load(const char *path, const char *data)
{
    struct config *config = NULL;
    char *why = NULL;
    const struct config_override override = {"--data", "top", "data_dir", data};
    if (config_load_with(path, &override, 1, &config, &why))
        complain_lines(why);
    free(why);
    return config;
}

int configured_run(const char *path, const char *data, configured_command *run, const void *context)
{
    struct config *config = configured_load(path, data);
    char *why = NULL;
    if (!config)
        return EXIT_USAGE;
    const enum err e = run(config, context, &why);
    if (e)
        complain("%s", why);
    free(why);
    config_free(config);
    return e == ERR_NONE ? EXIT_DONE : e == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}
