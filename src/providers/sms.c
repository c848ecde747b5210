#include "providers/sms.h"

#include <string.h>

enum err texter_new(const struct config *c, struct store *store, struct texter **ret, char **ret_why)
{
    if (strcmp(c->sms_provider, "twilio") == 0)
        return twilio_texter_new(c, ret, ret_why);
    *ret = builtin_texter_new(store);
    return ERR_NONE;
}
