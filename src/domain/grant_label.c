#include "domain/grant_label.h"

#include "domain/activity.h"
#include "domain/feed.h"
#include "domain/job.h"
#include "domain/visit.h"

enum err grant_label_changed(struct tx *tx, const struct id *building, const struct id *grant)
{
    return job_add_again(tx, arena_printf(tx->arena, JOB_LABEL " %s", grant->text), JOB_LABEL, tx->now_us,
                         arena_printf(tx->arena, "%s %s", building->text, grant->text));
}

enum err grant_label_spread(struct tx *tx, const struct id *building, const struct id *grant, struct str label,
                            int64_t limit, bool *ret_more)
{
    bool entries = false, visits = false;
    enum err e = activity_relabel(tx, building, grant, label, limit, &entries);
    if (!e)
        e = visit_relabel(tx, building, grant, label, limit, &visits);
    if (!e && !entries && !visits)
        e = feed_relabel(tx, building, grant, label);
    if (!e)
        *ret_more = entries || visits;
    return e;
}
