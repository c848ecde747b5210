#include "providers/billing.h"

#include <stdio.h>

#include "providers/sandbox_billing.h"

enum err billing_new(const struct config *c, struct store *store, struct billing **ret, char **ret_why)
{
    if (strcmp(c->billing_provider, "sandbox") == 0)
        return sandbox_billing_new(c, store, ret);
    if (asprintf(ret_why, "billing.provider: %s is not built in", c->billing_provider) < 0)
        *ret_why = NULL;
    return ERR_USAGE;
}
