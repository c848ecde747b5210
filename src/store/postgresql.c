/* The PostgreSQL engine. */
#include "store/engine.h"

static enum err open_store(const struct config *c, struct store **ret, char **ret_why)
{
    (void)c;
    (void)ret;
    return store_refuse(ret_why, ERR_USAGE, "postgresql is not built in");
}

const struct engine postgresql_engine = {.open = open_store};
