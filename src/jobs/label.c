#include "jobs/label.h"

#include "base/clock.h"
#include "domain/grant.h"
#include "domain/grant_label.h"
#include "domain/work.h"

#define BATCH 200

struct spreading {
    struct id building, grant;
    bool more;
};

static enum err label_spread(struct tx *tx, void *arg)
{
    struct spreading *s = arg;
    struct grant g = {0};
    enum err e = grant_get(tx, &(struct grant_place){.building = &s->building}, &s->grant, &g);
    if (!e)
        return grant_label_spread(tx, &s->building, &s->grant, g.label, BATCH, &s->more);
    s->more = false;
    return e == ERR_NOT_FOUND ? ERR_NONE : e; /* the building was deleted meanwhile */
}

static enum err label_run(void *context, const struct job *job)
{
    (void)context;
    struct spreading s = {.more = true};
    struct str grant;
    enum err e = ERR_NONE;
    if (!id_parse(str_cut(job->payload, ' ', &grant), &s.building) || !id_parse(grant, &s.grant))
        return ERR_NONE;
    while (!e && s.more) {
        e = work_write(job->work, label_spread, &s);
        if (!e && s.more && clock_monotonic_us() > job->until_us)
            e = ERR_SERVICE_UNAVAILABLE; /* the lease ends: another run goes on */
    }
    return e;
}

struct job_kind jobs_kind_label(void)
{
    return (struct job_kind){.name = JOB_LABEL, .run = label_run};
}
