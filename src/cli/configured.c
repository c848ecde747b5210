#include "cli/configured.h"

#include <stdlib.h>

#include "client/complain.h"
#include "client/options.h"

int configured_run(const char *path, const char *data, configured_command *run, const void *context)
{
    struct config *config = NULL;
    char *why = NULL;
    const struct config_override override = {"--data", "top", "data_dir", data};
    enum err e = config_load_with(path, &override, 1, &config, &why);
    if (e)
        complain_lines(why);
    else if ((e = run(config, context, &why)))
        complain("%s", why);
    free(why);
    config_free(config);
    return e == ERR_NONE ? EXIT_DONE : e == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
}
