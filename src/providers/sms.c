#include "providers/sms.h"

#include <string.h>

enum err texter_new(const struct config *c, struct store *store, struct texter **ret, char **ret_why)
{
    if (strcmp(c->sms_provider, "twilio") == 0)
        return twilio_texter_new(c, ret, ret_why);
    if (strcmp(c->sms_provider, "call") == 0)
        *ret = call_texter_new();
    else if (strcmp(c->sms_provider, "none") == 0)
        *ret = no_texter_new();
    else
        *ret = builtin_texter_new(store);
    return ERR_NONE;
}
