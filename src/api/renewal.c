#include "api/renewal.h"

#include "base/container_of.h"
#include "domain/browser.h"

bool renewal_due(struct request *q)
{
    const bool due = q->result == ERR_INVALID_KEY && q->lapsed && !q->renewal_tried;
    q->renewal_tried |= due;
    return due;
}

static enum err renewal_run(struct store_task *task, struct db *db)
{
    struct request *q = container_of(task, struct request, task);
    q->tx.db = db;
    q->tx.why = STR_NONE;
    enum err e = browser_renew(&q->tx, q->lapsed);
    q->renewed = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e; /* another request may have renewed it; the next run will tell */
}

static void renewal_done(struct store_task *task, enum err result)
{
    struct request *q = container_of(task, struct request, task);
    q->result = result;
    http_post(q->http, &q->http->mail);
}

void renewal_submit(struct request *q, void (*posted)(struct mail *mail))
{
    q->http->mail.run = posted;
    q->task = (struct store_task){.mode = STORE_WRITE, .run = renewal_run, .done = renewal_done};
    store_submit(q->work.store, &q->task);
}
