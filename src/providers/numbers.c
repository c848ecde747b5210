#include "providers/numbers.h"

enum err number_source_new(const struct config *c, struct store *store, struct number_source **ret, char **ret_why)
{
    if (strcmp(c->numbers_provider, "twilio") == 0)
        return twilio_numbers_new(c, store, ret, ret_why);
    *ret = strcmp(c->numbers_provider, "pool") == 0 ? pool_numbers_new() : builtin_numbers_new(store);
    return ERR_NONE;
}
