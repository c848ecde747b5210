#include "call/keep.h"

#include <glib.h>

/* Copies the string if it is set, cut to size at a character boundary. */
static void copy_cut(char *to, size_t size, struct str s)
{
    if (!s.p)
        return;
    size_t n = s.n < size ? s.n : size - 1;
    if (n < s.n) {
        const char *end = g_utf8_find_prev_char(s.p, s.p + n + 1);
        n = end ? (size_t)(end - s.p) : 0;
    }
    if (n)
        memcpy(to, s.p, n);
    to[n] = '\0';
}

/* Adds a phone behind the others. Returns whether there was room. */
static bool keep_phone(struct call_ring *r, struct str number)
{
    if (!number.n || number.n >= CALL_NUMBER_MAX || r->count + r->quiet == CALL_PHONES_MAX)
        return false;
    copy_cut(r->phones[r->count + r->quiet], CALL_NUMBER_MAX, number);
    return true;
}

static void keep_ring(struct call_ring *r, const struct access_decision *d)
{
    *r = (struct call_ring){
        .strategy = d->ring.strategy, .seconds = d->ring.seconds, .accept = d->ring.accept, .message = d->ring.message};
    r->count += keep_phone(r, d->forward_to);
    for (size_t i = 0; i < d->ring.count; i++) {
        if (!str_eq(d->ring.numbers[i], d->forward_to))
            r->count += keep_phone(r, d->ring.numbers[i]);
    }
    for (size_t i = 0; i < d->ring.quiet; i++)
        r->quiet += keep_phone(r, d->ring.numbers[d->ring.count + i]);
    r->quiet_browsers = d->ring.quiet_browsers;
}

/* Where no browser can take the call, the phones that were left out ring if no other does. */
static void wake_phones(struct call_ring *r)
{
    if (r->count)
        return;
    r->count = r->quiet;
    r->quiet = 0;
}

void keep_decision(struct call *c, const struct access_decision *d)
{
    copy_cut(c->greetings[PROMPT_WELCOME], CALL_TEXT_MAX, d->greeting_welcome);
    copy_cut(c->greetings[PROMPT_GRANTED], CALL_TEXT_MAX, d->greeting_granted);
    copy_cut(c->greetings[PROMPT_DENIED], CALL_TEXT_MAX, d->greeting_denied);
    copy_cut(c->greetings[PROMPT_FORWARDING], CALL_TEXT_MAX, d->greeting_forwarding);
    copy_cut(c->greetings[PROMPT_MESSAGE], CALL_TEXT_MAX, d->greeting_message);
    c->opening[0] = '\0';
    copy_cut(c->opening, CALL_OPENING_MAX, d->opening);
    memcpy(c->recordings, d->recordings, sizeof c->recordings);
    memcpy(c->tones, d->tones, sizeof c->tones);
    c->release = d->release;
    keep_ring(&c->ring, d);
    if (!c->browsers)
        wake_phones(&c->ring);
    c->barred = d->barred;
    c->ring.browsers = c->browsers && d->browsers;
    if (id_given(&d->building_id))
        c->building_id = d->building_id;
    c->reason = d->reason;
    c->lengths = d->lengths;
    c->known = d->known_caller;
}

void keep_near(struct call *c, const struct access_decision *d)
{
    c->near_count = d->near_count;
    for (size_t i = 0; i < d->near_count; i++)
        c->near[i] = (struct access_near){.grant_id = d->near[i].grant_id, .why = d->near[i].why};
}

void keep_minutes(struct call *c, const struct access_decision *d)
{
    c->ring.minutes = d->minutes;
    c->spent = d->spent;
    if (!d->spent || c->ring.count <= (size_t)d->minutes)
        return;
    memmove(c->ring.phones[d->minutes], c->ring.phones[c->ring.count], c->ring.quiet * CALL_NUMBER_MAX);
    c->ring.count = (size_t)d->minutes;
}
