#include "providers/mail.h"

enum err mailer_new(const struct config *c, struct store *store, struct mailer **ret, char **ret_why)
{
    if (strcmp(c->mail_provider, "smtp") == 0)
        return smtp_mailer_new(c, ret, ret_why);
    *ret = builtin_mailer_new(store);
    return ERR_NONE;
}
