#include "call/log.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"

#define LINE_MAX   1500
#define IDLE_MAX   20 /* lines of calls that were never established */
#define IDLE_IN_US (10 * US_PER_S)

const char *call_outcome_name(enum call_outcome o)
{
    static const char *const names[] = {
        [CALL_NO_OUTCOME] = "none",   [CALL_RELEASED] = "released", [CALL_FORWARDED] = "forwarded",
        [CALL_REJECTED] = "rejected", [CALL_OWNER] = "owner_call",
    };
    return names[o];
}

/* How the call ended: as decided, unless the caller hung up first. */
static enum metric_label_OUTCOME ending(const struct call *c, const struct call_record *r)
{
    static const enum metric_label_OUTCOME decided[] = {
        [CALL_NO_OUTCOME] = METRIC_CALL_NONE,     [CALL_RELEASED] = METRIC_CALL_RELEASED,
        [CALL_FORWARDED] = METRIC_CALL_FORWARDED, [CALL_REJECTED] = METRIC_CALL_REJECTED,
        [CALL_OWNER] = METRIC_CALL_OWNER,
    };
    if (c->reason == ACCESS_FAILED)
        return METRIC_CALL_FAILED;
    if (c->outcome == CALL_NO_OUTCOME && r->status)
        return METRIC_CALL_REJECTED;
    return c->hung_up || r->unfinished ? METRIC_CALL_HUNG_UP : decided[c->outcome];
}

/* ---- the line ---- */

/* Received text. Bytes that could end the value or imitate another one are written as %XX. */
static void log_text(struct buf *b, const char *name, const char *text)
{
    buf_printf(b, " %s=", name);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p > ' ' && *p < 0x7f && !strchr("%=\"\\", *p))
            buf_char(b, (char)*p);
        else
            buf_printf(b, "%%%02X", *p);
    }
}

static void log_id(struct buf *b, const char *name, const struct id *id)
{
    if (id_given(id))
        buf_printf(b, " %s=%s", name, id->text);
}

static void log_keys(struct buf *b, const struct call *c, const struct call_record *r)
{
    buf_printf(b, " keys=%d", c->keys);
    if (r->has_media)
        buf_printf(b, " events=%u tones=%u infos=%u", r->events, r->tones, r->infos);
    buf_printf(b, " spoken=%d wrong=%d", c->spoken, c->wrong);
}

static void log_near(struct buf *b, const struct call *c)
{
    for (size_t i = 0; i < c->near_count; i++)
        buf_printf(b, "%s%s:%s", i ? " " : " near=\"", c->near[i].grant_id.text, access_why_names[c->near[i].why]);
    if (c->near_count)
        buf_char(b, '"');
}

static void put_call_record(struct buf *b, const struct call *c, const struct call_record *r)
{
    log_text(b, "source", r->source);
    log_text(b, "caller", r->caller);
    log_text(b, "dialled", r->dialled);
    if (r->number[0] && strcmp(r->number, r->dialled) != 0)
        log_text(b, "number", r->number);
    log_id(b, "building", &c->building_id);
    log_keys(b, c, r);
    buf_printf(b, " decision=%s reason=%s", call_outcome_name(c->outcome), access_reason_names[c->reason]);
    if (c->spent)
        buf_lit(b, " limit=account_minutes_per_day");
    log_id(b, "grant", &c->grant_id);
    if (r->tone)
        buf_printf(b, " tone=%s%s", r->tone, r->tone_fallback ? " tone_fallback=1" : "");
    log_near(b, c);
    buf_printf(b, " ended=%s", metric_values_OUTCOME[ending(c, r)]);
    if (r->status)
        buf_printf(b, " status=%d", r->status);
    buf_printf(b, " duration_ms=%lld", (long long)r->duration_ms);
    log_text(b, "id", r->id);
}

/* ---- rate limit ---- */

/* Limits the lines of calls that were never established: scans and floods make thousands and must not fill the disk.
 * False: suppress the line. *ret_left_out counts the lines suppressed since the last one. */
static bool may_log(bool established, unsigned *ret_left_out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int64_t since_us;
    static unsigned written, left_out;
    const int64_t now_us = clock_monotonic_us();
    pthread_mutex_lock(&lock);
    if (now_us - since_us >= IDLE_IN_US) {
        since_us = now_us;
        written = 0;
    }
    const bool mine = established || written < IDLE_MAX;
    written += !established && mine;
    *ret_left_out = left_out;
    left_out = mine ? 0 : left_out + 1;
    pthread_mutex_unlock(&lock);
    return mine;
}

_Static_assert((int)METRIC_REASON_VALUES == ACCESS_REASON_COUNT, "a series for each reason");

void call_log_count(const struct call *c, const struct call_record *r)
{
    metric_add(&metrics.calls[ending(c, r)], 1);
    metric_add(&metrics.call_reasons[c->reason], 1);
    if (c->spent)
        metric_add(metrics.calls_limited, 1);
}

void call_log(const struct call *c, const struct call_record *r)
{
    unsigned left_out;
    call_log_count(c, r);
    if (!may_log(r->established, &left_out))
        return;
    struct buf b = BUF(LINE_MAX);
    buf_lit(&b, "call");
    put_call_record(&b, c, r);
    if (left_out)
        buf_printf(&b, " unlogged=%u", left_out);
    log_info("%.*s", STR_ARG(buf_view(&b)));
    buf_done(&b);
}
