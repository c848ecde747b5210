#include "sip/dialogs.h"

#include "base/metric.h"
#include "sip/call.h"

#define HASH_SIZE 256

int sip_dialogs_init(struct sip_dialogs *d)
{
    int e = hash_alloc(&d->by_id, HASH_SIZE);
    return e ? e : hash_alloc(&d->legs, HASH_SIZE);
}

void sip_dialogs_flush(struct sip_dialogs *d)
{
    list_flush(&d->ended);
}

void sip_dialogs_done(struct sip_dialogs *d)
{
    mem_deref(d->by_id);
    mem_deref(d->legs);
}

void sip_dialogs_enter(struct sip_dialogs *d, struct sip_call *c)
{
    c->serial = ++d->serial;
    list_append(&d->calls, &c->le, c);
    hash_append(d->by_id, hash_joaat_pl(&c->invite->callid), &c->dialog, c);
    d->count++;
    metric_set(metrics.calls_active, d->count);
}

void sip_dialogs_leave(struct sip_dialogs *d, struct sip_call *c)
{
    hash_unlink(&c->dialog);
    list_unlink(&c->le);
    list_append(&d->ended, &c->le, c);
    d->count--;
    metric_set(metrics.calls_active, d->count);
}
