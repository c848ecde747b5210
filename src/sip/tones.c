#include "sip/tones.h"

#include "base/log.h"
#include "sip/call.h"
#include "sip/part.h"

#define ANSWER_MS 2000 /* a box that does not answer may have heard the key: it is not sent again */

static void press_by_media(struct sip_tones *t, const char *keys, const struct release *form)
{
    const bool events = media_press(t->media, keys, form);
    t->record->tone = events ? "events" : "inband";
    t->record->tone_fallback = form->mode == RELEASE_INFO || (form->mode == RELEASE_EVENTS && !events);
}

/* ---- SIP INFO ---- */

static void info_next(struct sip_tones *t);

/* The peer does not take this key and those after it as SIP INFO. */
static void info_refused(struct sip_tones *t)
{
    struct release rest = t->form;
    rest.delay_ms = 0;
    rest.repeat = 1;
    sip_tones_stop(t);
    press_by_media(t, t->keys + t->at, &rest);
}

static void on_next(void *arg)
{
    struct sip_tones *t = arg;
    t->at++;
    info_next(t);
}

/* Without our reference, libre would go on to repeat the request for 32 s, also after a BYE: it keeps one instead,
 * which is dropped as well. */
static void info_end(struct sip_tones *t)
{
    struct sip_request *request = t->request;
    mem_deref(request);
    t->request = NULL;
    mem_deref(request);
}

/* The next key follows when this one and its gap are over. */
static void info_wait(struct sip_tones *t)
{
    const uint64_t passed_ms = tmr_jiffies() - t->sent_ms, step_ms = (uint64_t)(t->form.length_ms + t->form.gap_ms);
    info_end(t);
    tmr_start(&t->timer, passed_ms < step_ms ? step_ms - passed_ms : 0, on_next, t);
}

static void on_no_answer(void *arg)
{
    log_debug("sip info was not answered");
    info_wait(arg);
}

static void on_info_answer(int err, const struct sip_msg *msg, void *arg)
{
    struct sip_tones *t = arg;
    if (err || msg->scode < 200)
        return;
    if (msg->scode >= 300) {
        log_debug("sip info was refused status=%u", msg->scode);
        info_refused(t);
    } else {
        info_wait(t);
    }
}

/* Not through the session, which has no way to end a request. */
static int info_send(struct sip_tones *t)
{
    char body[64];
    const int n =
        re_snprintf(body, sizeof body, "Signal=%c\r\nDuration=%lld\r\n", t->keys[t->at], (long long)t->form.length_ms);
    return n < 0 ? ENOMEM
                 : sip_drequestf(&t->request, t->sip, true, "INFO", sipsess_dialog(t->session), 0, NULL, NULL,
                                 on_info_answer, t,
                                 "Content-Type: application/dtmf-relay\r\nContent-Length: %d\r\n\r\n%s", n, body);
}

static void info_next(struct sip_tones *t)
{
    if (!t->keys[t->at]) {
        t->done(t->arg);
        return;
    }
    const int e = info_send(t);
    if (e) {
        log_debug("sip info not sent errno=%d", e);
        info_refused(t);
        return;
    }
    t->sent_ms = tmr_jiffies();
    tmr_start(&t->timer, ANSWER_MS, on_no_answer, t);
}

static void on_delay(void *arg)
{
    info_next(arg);
}

/* ---- */

void sip_tones_press(struct sip_tones *t, struct media *m, struct sip *sip, struct sipsess *session,
                     struct call_record *record, const char *keys, const struct release *form, void (*done)(void *arg),
                     void *arg)
{
    sip_tones_stop(t);
    *t = (struct sip_tones){
        .media = m, .sip = sip, .session = session, .record = record, .form = *form, .done = done, .arg = arg};
    if (form->mode != RELEASE_INFO || !session) {
        press_by_media(t, keys, form);
        return;
    }
    dtmf_repeat(keys, form->repeat, t->keys);
    record->tone = "info";
    tmr_start(&t->timer, (uint64_t)form->delay_ms, on_delay, t);
}

void sip_tones_stop(struct sip_tones *t)
{
    tmr_cancel(&t->timer);
    info_end(t);
}

static void tones_on_end(struct sip_call *c)
{
    sip_tones_stop(&c->tones);
}

const struct sip_part sip_tones_part = {.end = tones_on_end};
