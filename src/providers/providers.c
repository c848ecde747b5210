#include "providers/providers.h"

enum err providers_open(const struct config *c, struct store *store, struct providers *ret, char **ret_why)
{
    *ret = (struct providers){0};
    enum err e = mailer_new(c, store, &ret->mailer, ret_why);
    if (!e)
        e = texter_new(c, store, &ret->texter, ret_why);
    if (!e)
        e = number_source_new(c, store, &ret->numbers, ret_why);
    if (!e)
        e = billing_new(c, store, &ret->billing, ret_why);
    if (!e)
        e = twilio_hook_new(c, &ret->hook, ret_why);
    if (!e && ret->hook)
        e = twilio_new(c, &ret->twilio, ret_why);
    if (!e)
        ret->catalog = catalog_new(ret->billing, CATALOG_GOOD_FOR_S);
    if (e)
        providers_close(ret);
    return e;
}

void providers_close(struct providers *p)
{
    mailer_free(p->mailer);
    texter_free(p->texter);
    number_source_free(p->numbers);
    catalog_free(p->catalog);
    billing_free(p->billing);
    twilio_hook_free(p->hook);
    twilio_free(p->twilio);
    *p = (struct providers){0};
}
