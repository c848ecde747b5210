/* Codes that are not texts: told in a telephone call, or not sent at all. */
#include <stdlib.h>

#include "base/mem.h"
#include "providers/sms.h"

struct call_texter {
    struct texter texter;
    enum outcome (*call)(void *arg, const struct sms_message *m, bool *ret_number);
    void *arg;
};

/* Without a telephone. */
static enum outcome refuse_all(void *arg, const struct sms_message *m, bool *ret_number)
{
    (void)arg, (void)m;
    *ret_number = false;
    return OUTCOME_REFUSED;
}

static enum outcome call_texter_send(struct texter *t, const struct sms_message *message, bool *ret_number)
{
    const struct call_texter *c = (const struct call_texter *)t;
    return c->call(c->arg, message, ret_number);
}

static void call_texter_free(struct texter *t)
{
    free(t);
}

static const struct texter_ops call_ops = {.send = call_texter_send, .free = call_texter_free};
static const struct texter_ops no_ops = {.send = call_texter_send, .free = call_texter_free};

static struct texter *new_texter(const struct texter_ops *ops)
{
    struct call_texter *c = mem_new(struct call_texter);
    *c = (struct call_texter){.texter.ops = ops, .call = refuse_all};
    return &c->texter;
}

struct texter *call_texter_new(void)
{
    return new_texter(&call_ops);
}

struct texter *no_texter_new(void)
{
    return new_texter(&no_ops);
}

void texter_set_call(struct texter *t, enum outcome (*call)(void *arg, const struct sms_message *m, bool *ret_number),
                     void *arg)
{
    struct call_texter *c = (struct call_texter *)t;
    if (t->ops != &call_ops)
        return;
    c->call = call;
    c->arg = arg;
}
