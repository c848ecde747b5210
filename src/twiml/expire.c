#include "twiml/twiml.h"

#include "domain/job.h"
#include "domain/work.h"
#include "twiml/ending.h"
#include "twiml/talk.h"

#define JOB_EXPIRE "twilio_calls"
#define EVERY_S    600
#define BATCH      50

struct batch {
    const struct job *job;
    struct twiml_session ended[BATCH];
    size_t ended_count;
    int64_t now_us;
};

/* A call without a report of its end counts as hung up. A state that this version cannot read is deleted. */
static enum err expire_one(struct tx *tx, struct str sid, struct batch *b)
{
    struct twiml_session *s = &b->ended[b->ended_count];
    enum err e = twiml_session_get(tx, sid, s);
    if (!e && !s->ended) {
        struct twiml_turn turn = twiml_turn(tx, s);
        twiml_hung_up(&turn);
        twiml_session_count(s);
        story_ended_by(&s->story, CALL_ENDED_LOST);
        b->ended_count++;
        e = story_write(tx, &s->story, turn.at_ms);
        if (e)
            return e;
    }
    return db_exec(tx->db, SQL(twilio_call_delete, .sid = sid), NULL);
}

static enum err list_oldest(struct tx *tx, struct str ret[static BATCH], size_t *ret_count)
{
    CURSOR c;
    bool more = false;
    *ret_count = 0;
    enum err e =
        db_query(tx->db, SQL(twilio_call_oldest, .before = tx->now_us - TWIML_KEPT_S * US_PER_S, .limit = BATCH), &c);
    if (!e)
        e = db_next(&c, &more);
    while (!e && more && *ret_count < BATCH) {
        const struct row_twilio_call_oldest row = row_twilio_call_oldest(&c, tx->arena);
        ret[(*ret_count)++] = row.sid;
        e = db_next(&c, &more);
    }
    return e;
}

/* Reschedules itself in the same transaction; at once if there may be more rows. */
static enum err expire_batch(struct tx *tx, void *arg)
{
    struct batch *b = arg;
    struct str sids[BATCH];
    size_t count = 0;
    b->ended_count = 0;
    b->now_us = tx->now_us;
    enum err e = list_oldest(tx, sids, &count);
    for (size_t i = 0; i < count && !e; i++)
        e = expire_one(tx, sids[i], b);
    const int64_t pause_us = count == BATCH ? 0 : EVERY_S * US_PER_S;
    return e ? e : job_repeat(tx, b->job->id, b->job->created_us, tx->now_us + pause_us);
}

static enum err expire_run(void *context, const struct job *job)
{
    (void)context;
    struct batch *b = arena_new(job->work->arena, struct batch);
    b->job = job;
    enum err e = work_write(job->work, expire_batch, b);
    for (size_t i = 0; i < b->ended_count && !e; i++)
        twiml_log(&b->ended[i], b->now_us);
    return e;
}

struct job_kind twiml_kind_expire(void)
{
    return (struct job_kind){.name = JOB_EXPIRE, .run = expire_run};
}

enum err twiml_schedule_expire(struct tx *tx)
{
    return job_add_once(tx, STR(JOB_EXPIRE), JOB_EXPIRE, tx->now_us + EVERY_S * US_PER_S, STR(""));
}
