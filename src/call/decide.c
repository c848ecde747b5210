#include "call/decide.h"

#include "base/clock.h"
#include "base/container_of.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/metric.h"
#include "domain/feed.h"

#define LOOK_US (5 * US_PER_S / 2)

/* ---- one question, in one transaction ---- */

struct call_question call_question(const struct call *c, const struct call_action *a)
{
    struct call_question q = {.kind = a->kind, .building_id = c->building_id, .reason = c->reason};
    if (a->kind == CALL_ASK_CODE) {
        memcpy(q.code, a->ask.code, sizeof q.code);
        q.way = a->ask.way;
    }
    return q;
}

static enum err question_ask(struct tx *tx, const struct call_question *q, struct access_decision *ret)
{
    switch (q->kind) {
    case CALL_ASK_ARRIVE:
        return access_arrive(tx, str_z(q->to), str_z(q->from), q->audio, ret);
    case CALL_ASK_CODE:
        return access_code(tx, &q->building_id, str_z(q->from), q->audio, str_z(q->code), q->way, ret);
    case CALL_ASK_FORWARDED:
        return access_forwarded(tx, &q->building_id, ret);
    default:
        return ERR_INTERNAL_ERROR;
    }
}

static enum err question_feed(struct tx *tx, const struct call_question *q, const struct access_decision *d)
{
    const enum feed_decision what = q->kind == CALL_ASK_ARRIVE ? FEED_ARRIVAL
                                    : q->kind == CALL_ASK_CODE ? FEED_CODE
                                                               : FEED_FORWARDING;
    return feed_decided(tx, q->arrival, what, d, q->reason);
}

static enum err question_record(struct tx *tx, const struct call_question *q, const struct access_decision *d)
{
    const bool released = d->verdict == ACCESS_RELEASE;
    const bool wrong = d->verdict == ACCESS_WRONG;
    if (released ? q->whole : !wrong && q->kind != CALL_ASK_FORWARDED)
        return ERR_NONE;
    return call_record_write(tx, q->arrival,
                             &(struct call_end){.account_id = d->account_id,
                                                .building_id = d->building_id,
                                                .outcome = released ? CALL_RECORD_RELEASED
                                                           : wrong  ? CALL_RECORD_NONE
                                                                    : CALL_RECORD_FORWARDED,
                                                .reason = released || wrong ? d->reason : q->reason,
                                                .grant_id = released ? d->grant_id : (struct id){.text = ""},
                                                .near = wrong && d->near_count ? d->near : NULL,
                                                .minutes = d->minutes});
}

enum err call_decide(struct tx *tx, const struct call_question *q, struct access_decision *ret)
{
    *ret = (struct access_decision){0};
    tx->call = q->arrival ? &q->arrival->id : NULL;
    enum err e = question_ask(tx, q, ret);
    if (!e && q->arrival)
        e = question_feed(tx, q, ret);
    return e || !q->arrival ? e : question_record(tx, q, ret);
}

static void log_closing(const struct access_decision *d, const char *from)
{
    const struct guard_closing *closing = &d->closing;
    if (closing->minutes)
        log_warn("keypad closed building=%s to=%s minutes=%lld closings=%lld caller=%s", d->building_id.text,
                 closing->known ? "known" : "strangers", (long long)closing->minutes, (long long)closing->closings,
                 from[0] ? from : "none");
}

void call_decided(unsigned count, int64_t asked_us, const struct access_decision *closed, const char *from)
{
    for (unsigned i = 0; i < count; i++)
        metric_observe(metrics.call_decision, clock_monotonic_us() - asked_us);
    if (closed)
        log_closing(closed, from);
}

/* ---- a call's questions ---- */

static void copy_number(char to[static CALL_NUMBER_MAX], const char *number)
{
    size_t n = strlen(number);
    if (n >= CALL_NUMBER_MAX)
        n = 0;
    memcpy(to, number, n);
    to[n] = '\0';
}

void decide_init(struct decide *d, const struct config *config, const char *to, const char *from)
{
    *d = (struct decide){.config = config};
    copy_number(d->to, to);
    copy_number(d->from, from);
    arena_init(&d->arena, NULL, 0);
}

void decide_done(struct decide *d)
{
    crypto_wipe(d->question.code, sizeof d->question.code);
    arena_done(&d->arena);
}

/* Inside the transaction. It may run again, so it resets its results first. */
static enum err decide_ask(struct decide *d, struct db *db)
{
    arena_done(&d->arena);
    arena_init(&d->arena, NULL, 0);
    struct tx tx = {.arena = &d->arena, .db = db, .config = d->config, .now_us = clock_now_us(), .trace = d->trace};
    return call_decide(&tx, &d->question, &d->decision);
}

/* ---- without a decision ---- */

/* Whether the store failed so soon that there is time to read. */
static bool may_look(const struct decide *d)
{
    return d->question.kind == CALL_ASK_ARRIVE && !d->dropped && clock_monotonic_us() - d->asked_us < LOOK_US;
}

static enum err decide_look(void *arg, struct db *db)
{
    struct decide *d = arg;
    arena_done(&d->arena);
    arena_init(&d->arena, NULL, 0);
    struct tx tx = {.arena = &d->arena, .db = db, .config = d->config, .now_us = clock_now_us()};
    return access_look(&tx, str_z(d->to), str_z(d->from), &d->decision);
}

/* `looked`: the result of decide_look(). */
static void decide_find(struct decide *d, enum err looked)
{
    if (!looked)
        known_note(d->known, d->changes, d->to, &d->decision);
    d->found = !looked || (d->question.kind == CALL_ASK_ARRIVE && known_find(d->known, d->to, &d->arena, &d->decision));
}

/* ---- a question ---- */

static void decide_set(struct decide *d, const struct call *c, const struct call_action *action)
{
    d->question = call_question(c, action);
    d->question.to = d->to;
    d->question.from = d->from;
    d->question.audio = d->audio;
    d->question.arrival = d->arrival;
    d->found = false;
    d->changes = known_changes(d->known);
    d->asked_us = clock_monotonic_us();
}

static void decide_settle(struct decide *d, enum err result)
{
    crypto_wipe(d->question.code, sizeof d->question.code);
    d->result = result;
    if (d->question.kind == CALL_ASK_ARRIVE && !result)
        known_note(d->known, d->changes, d->to, &d->decision);
    call_decided(1, d->asked_us, result ? NULL : &d->decision, d->from);
    if (result)
        log_error("voice decision failed building=%s error=%s%s",
                  d->found ? d->decision.building_id.text : d->question.building_id.text, err_info(result)->code,
                  d->found ? " call=forwarded" : "");
}

/* ---- on a store thread ---- */

static enum err decide_job_run(struct store_task *job, struct db *db)
{
    struct decide *d = container_of(job, struct decide, job);
    return d->dropped ? ERR_NONE : decide_ask(d, db);
}

static void decide_mail_run(struct mail *m)
{
    struct decide *d = container_of(m, struct decide, mail);
    d->answered(d);
}

static void decide_post(struct decide *d, enum err result)
{
    decide_settle(d, result);
    d->mail.run = decide_mail_run;
    mailbox_post(d->box, &d->mail);
}

static enum err look_job_run(struct store_task *job, struct db *db)
{
    return decide_look(container_of(job, struct decide, job), db);
}

static void look_job_done(struct store_task *job, enum err looked)
{
    struct decide *d = container_of(job, struct decide, job);
    decide_find(d, looked);
    decide_post(d, d->result);
}

static void decide_job_done(struct store_task *job, enum err result)
{
    struct decide *d = container_of(job, struct decide, job);
    if (result && may_look(d)) {
        d->result = result;
        d->job = (struct store_task){.mode = STORE_READ, .urgent = true, .run = look_job_run, .done = look_job_done};
        store_submit(d->store, &d->job);
        return;
    }
    if (result)
        decide_find(d, result);
    decide_post(d, result);
}

void decide_submit(struct decide *d, const struct call *c, const struct call_action *action, struct store *s,
                   struct mailbox *box, void (*answered)(struct decide *d))
{
    decide_set(d, c, action);
    d->box = box;
    d->store = s;
    d->answered = answered;
    d->job = (struct store_task){.mode = STORE_WRITE, .urgent = true, .run = decide_job_run, .done = decide_job_done};
    store_submit(s, &d->job);
}

void decide_drop(struct decide *d)
{
    d->dropped = true;
}

/* ---- on the caller's thread ---- */

static enum err decide_wait_run(void *arg, struct db *db)
{
    return decide_ask(arg, db);
}

void decide_now(struct decide *d, const struct call *c, const struct call_action *action, struct store *s)
{
    decide_set(d, c, action);
    enum err e = store_run_urgent(s, decide_wait_run, d);
    if (e)
        decide_find(d, may_look(d) ? store_run(s, STORE_READ, decide_look, d) : e);
    decide_settle(d, e);
}

struct call_event decide_event(const struct decide *d)
{
    if (d->result)
        return (struct call_event){.kind = CALL_FAILED,
                                   .decision = d->found ? &d->decision : NULL,
                                   .gone = d->result == ERR_BUILDING_NOT_FOUND,
                                   .away = d->result == ERR_SERVICE_UNAVAILABLE};
    return (struct call_event){.kind = CALL_DECIDED, .decision = &d->decision};
}
