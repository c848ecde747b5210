#include "providers/billing.h"

#include "providers/builtin_billing.h"

enum err billing_new(const struct config *c, struct store *store, struct billing **ret, char **ret_why)
{
    if (strcmp(c->billing_provider, "stripe") == 0)
        return stripe_billing_new(c, ret, ret_why);
    *ret = c->unbilled ? no_billing_new(c, store) : builtin_billing_new(c, store);
    return ERR_NONE;
}
