#include "jobs/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "domain/event.h"
#include "domain/webhook.h"
#include "providers/receiver.h"

/* Each attempt is a request with an ID of its own in the event's trace (W3C Trace Context, section 3.2). */
static void write_trace(struct attempt *a, struct str trace)
{
    unsigned char id[8];
    char hex[2 * sizeof id + 1];
    if (trace.n != TRACE_LEN)
        return;
    crypto_random(id, sizeof id);
    id[0] |= 1; /* zero is not valid */
    hex_encode(id, sizeof id, hex);
    memcpy(a->trace_id, trace.p, TRACE_ID_LEN);
    snprintf(a->trace, sizeof a->trace, "traceparent: 00-%s-%s-%.2s", a->trace_id, hex, trace.p + TRACE_ID_LEN + 1);
}

static bool open_secret(const struct delivery *d, struct str sealed, struct arena *a, struct str *ret)
{
    if (crypto_open(WEBHOOK_PURPOSE, sealed, a, ret))
        return true;
    log_error("delivery secret cannot be decrypted delivery=%s endpoint=%s", d->id.text, d->webhook_id.text);
    return false;
}

/* A copy in the arena. */
static void wipe(struct str secret)
{
    crypto_wipe((void *)(uintptr_t)secret.p, secret.n); /* NOLINT(performance-no-int-to-ptr) */
}

/* Signs with each secret that is valid. */
static bool write_signature(struct attempt *a, const struct delivery *d, int64_t time_s, struct arena *arena)
{
    const struct str sealed[] = {d->secret, d->previous_secret};
    struct str secret;
    envelope_sign_begin(d->form, time_s, a->signature);
    for (size_t i = 0; i < sizeof sealed / sizeof *sealed; i++) {
        if (i && !sealed[i].p)
            continue;
        if (!open_secret(d, sealed[i], arena, &secret))
            return false;
        envelope_sign(buf_view(&a->signed_text), secret, a->signature);
        wipe(secret);
    }
    return true;
}

/* Returns NULL, or the failure if nothing can be sent. */
static const char *make_request(struct attempt *a, const struct delivery *d, struct arena *arena)
{
    int64_t time_s = clock_real_us() / US_PER_S;
    if (!d->url.p || !d->data.p)
        return "gone";
    const struct envelope envelope = {
        .form = d->form,
        .id = d->event_id,
        .type = d->type,
        .data = d->data,
        .building_id = d->building_id,
        .created_us = d->event_created_us,
    };
    const size_t body_at = envelope_write(&envelope, time_s, &a->signed_text);
    if (!write_signature(a, d, time_s, arena))
        return "secret";
    write_trace(a, d->trace);
    a->url = mem_strndup(d->url.p, d->url.n);
    if (a->signed_text.full)
        abort();
    a->post.url = a->url;
    a->post.headers[0] = a->signature;
    a->post.headers[1] = *a->trace ? a->trace : NULL;
    envelope_head(&envelope, a->lines);
    for (int i = 0; i < ENVELOPE_LINES; i++)
        a->post.headers[2 + i] = *a->lines[i] ? a->lines[i] : NULL;
    a->post.body = str_from(buf_view(&a->signed_text), body_at);
    return NULL;
}

struct attempt *attempt_new(const struct delivery *d)
{
    char first[512];
    struct arena arena;
    struct attempt *a = mem_new(struct attempt);
    a->signed_text = BUF(ATTEMPT_BODY_MAX);
    a->account_id = d->account_id;
    a->result = (struct delivery_result){
        .webhook_id = d->webhook_id, .id = d->id, .form = d->form, .attempt = d->attempts + 1, .lease = d->lease};
    arena_init(&arena, first, sizeof first);
    a->result.failure = make_request(a, d, &arena);
    arena_done(&arena);
    return a;
}

bool attempt_receive(struct attempt *a, const struct delivery *d, const struct config *c)
{
    struct arena arena;
    struct str secret;
    if (!receiver_has(c, d->url))
        return false;
    arena_init(&arena, NULL, 0);
    if (open_secret(d, d->secret, &arena, &secret)) {
        const struct received r = {
            .url = d->url, .body = a->post.body, .signature = str_z(a->signature), .trace = str_z(a->trace)};
        a->post.status = receiver_take(r, secret);
        wipe(secret);
    } else {
        a->post.failure = "secret";
    }
    arena_done(&arena);
    return true;
}

void attempt_free(struct attempt *a)
{
    if (!a)
        return;
    buf_done(&a->signed_text);
    free(a->url);
    free(a);
}

void attempt_end(struct attempt *a)
{
    long status = a->post.status;
    a->result.ended_us = clock_now_us();
    a->result.took_ms = (clock_monotonic_us() - a->began_us) / 1000;
    if (!a->result.failure) {
        a->result.status_code = status;
        if (!status)
            a->result.failure = a->post.failure;
        else if (status < 200 || status > 299)
            a->result.failure = "status";
    }
    metric_add(&metrics.deliveries[a->result.failure ? METRIC_NOT_DELIVERED : METRIC_DELIVERED], 1);
}
