#include "twiml/message.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "call/message.h"
#include "call/wav.h"
#include "domain/call_message.h"
#include "domain/job.h"
#include "twiml/twiml.h"

#define JOB_FETCH   "twilio_message"
#define JOB_DISCARD "twilio_discard"

#define FIRST_LOOK_S 120  /* the text and the message are over by then; a request of Twilio makes it sooner */
#define SOON_S       10   /* the call has not ended, or Twilio works on the recording */
#define LATER_S      60   /* there is no recording */
#define NOTHING_S    600  /* without a recording, and a report of one, nobody has spoken */
#define LOST_S       3600 /* a recording that was reported and is not listed */
#define GIVE_UP_US   (24 * 3600 * US_PER_S)
#define LIST_PAGE    STR("20")

/* ---- the job ---- */

/* The payload: a message that is to be fetched. */
struct fetch {
    char sid[TWIML_SID_MAX];  /* CallSid */
    struct id call, building; /* of the record */
    char caller[CALL_NUMBER_MAX];
    int64_t started_us, asked_us;
};

static struct str job_name(struct arena *a, struct str sid)
{
    return arena_printf(a, JOB_FETCH ":%.*s", STR_ARG(sid));
}

static struct str fetch_text(const struct twiml_session *s, int64_t now_us, struct arena *a)
{
    json_t *o =
        json_pack("{s:s%, s:s, s:s, s:s, s:I, s:I}", "sid", s->sid.p, s->sid.n, "call", s->story.arrival.id.text,
                  "building", s->call.building_id.text, "caller", s->story.arrival.caller, "started_us",
                  (json_int_t)s->story.arrival.started_us, "asked_us", (json_int_t)now_us);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    const struct str copy = arena_str(a, str_z(text));
    free(text);
    json_decref(o);
    return copy;
}

static bool fetch_read(struct str text, struct fetch *ret)
{
    const char *sid, *call, *building, *caller;
    json_int_t started_us, asked_us;
    json_t *o = NULL;
    *ret = (struct fetch){.asked_us = 0};
    const bool fine = !json_read(text, &o) &&
                      !json_unpack(o, "{s:s, s:s, s:s, s:s, s:I, s:I}", "sid", &sid, "call", &call, "building",
                                   &building, "caller", &caller, "started_us", &started_us, "asked_us", &asked_us) &&
                      twilio_is_sid(str_z(sid), "CA") && id_parse(str_z(call), &ret->call) &&
                      id_parse(str_z(building), &ret->building) && strlen(caller) < sizeof ret->caller;
    if (fine) {
        snprintf(ret->sid, sizeof ret->sid, "%s", sid);
        snprintf(ret->caller, sizeof ret->caller, "%s", caller);
        ret->started_us = started_us;
        ret->asked_us = asked_us;
    }
    json_decref(o);
    return fine;
}

enum err twiml_message_expect(struct tx *tx, const struct twiml_session *s)
{
    const struct str payload = fetch_text(s, tx->now_us, tx->arena);
    return payload.p
               ? job_add_once(tx, job_name(tx->arena, s->sid), JOB_FETCH, tx->now_us + FIRST_LOOK_S * US_PER_S, payload)
               : ERR_INTERNAL_ERROR;
}

enum err twiml_message_heard(struct tx *tx, struct twiml_session *s)
{
    if (s->message != MESSAGE_ASKED && s->message != MESSAGE_HEARD)
        return ERR_NONE;
    s->message = MESSAGE_HEARD;
    const struct str payload = fetch_text(s, tx->now_us, tx->arena);
    enum err e = payload.p ? twiml_session_put(tx, s) : ERR_INTERNAL_ERROR;
    return e ? e : job_add_again(tx, job_name(tx->arena, s->sid), JOB_FETCH, tx->now_us, payload);
}

/* ---- the provider ---- */

static void take_recording(const json_t *entry, struct str call, struct twiml_recordings *ret)
{
    const struct str sid = rest_text(entry, "sid"), status = rest_text(entry, "status");
    if (!twilio_is_sid(sid, "RE") || !str_eq(rest_text(entry, "call_sid"), call) ||
        !str_eq(rest_text(entry, "source"), STR("RecordVerb")))
        return;
    if (str_eq(status, STR("in-progress")) || str_eq(status, STR("processing")) || str_eq(status, STR("stopped")))
        ret->pending = true;
    if (str_eq(status, STR("completed")) && ret->count < TWIML_RECORDINGS_MAX)
        snprintf(ret->sids[ret->count++], sizeof ret->sids[0], "%.*s", STR_ARG(sid));
}

bool twiml_recordings_read(const json_t *list, struct str call, struct twiml_recordings *ret)
{
    const json_t *entries = json_object_get(list, "recordings"), *entry;
    size_t i;
    *ret = (struct twiml_recordings){.count = 0};
    if (!json_is_array(entries))
        return false;
    json_array_foreach (entries, i, entry) {
        take_recording(entry, call, ret);
    }
    return true;
}

static enum outcome list_recordings(struct twilio *t, const struct fetch *f, struct arena *a,
                                    struct twiml_recordings *ret)
{
    const struct rest_field page = {"PageSize", LIST_PAGE};
    const struct twilio_request request = {.method = "GET",
                                           .path = arena_printf(a, "/Calls/%s/Recordings.json", f->sid),
                                           .fields = &page,
                                           .field_count = 1};
    struct twilio_answer answer;
    enum outcome o = twilio_call(t, &request, a, &answer);
    if (o == OUTCOME_DONE && !(answer.body && twiml_recordings_read(answer.body, str_z(f->sid), ret)))
        o = OUTCOME_UNKNOWN;
    json_decref(answer.body);
    return o;
}

/* Appends the message as a file of our own, and sets its length in seconds; 0: nobody has spoken. Returns false if the
 * bytes are no recording of Twilio: WAV of 8 kHz. */
static bool convert(struct str bytes, struct buf *out, int64_t *ret_seconds)
{
    struct audio audio;
    struct message_sound sound = {.n = 0};
    const char *why;
    if (wav_read(bytes, &audio, &why))
        return false;
    const bool fine = audio.rate == SOUND_RATE;
    if (audio.n > (size_t)CALL_MESSAGE_S * SOUND_RATE)
        audio.n = (size_t)CALL_MESSAGE_S * SOUND_RATE;
    for (size_t at = 0, n; fine && at < audio.n; at += n) {
        n = audio.n - at < MESSAGE_FRAME ? audio.n - at : MESSAGE_FRAME;
        (void)message_hear(&sound, audio.samples + at, n);
    }
    const size_t length = message_length(&sound);
    if (length)
        wav_write(audio.samples, length, out);
    *ret_seconds = ((int64_t)length + SOUND_RATE - 1) / SOUND_RATE;
    audio_done(&audio);
    return fine && !out->full;
}

/* ---- fetching ---- */

struct fetching {
    const struct job *job;
    struct fetch fetch;
    bool over;                  /* the call has ended */
    enum twiml_message message; /* as the call knows it */
    struct twiml_recordings recordings;
    struct buf wav;
    int64_t seconds;
    int64_t due_us; /* to look again */
};

/* A call that is no longer known has ended. */
static enum err look_at_call(struct tx *tx, void *arg)
{
    struct fetching *f = arg;
    struct twiml_session *s = arena_new(tx->arena, struct twiml_session);
    enum err e = twiml_session_get(tx, str_z(f->fetch.sid), s);
    f->over = e || s->ended;
    f->message = e ? MESSAGE_NONE : s->message;
    return e == ERR_NOT_FOUND || e == ERR_INTERNAL_ERROR ? ERR_NONE : e;
}

static enum err look_again(struct tx *tx, void *arg)
{
    const struct fetching *f = arg;
    return job_repeat(tx, f->job->id, f->job->created_us, f->due_us);
}

static enum err note_message(struct tx *tx, const struct fetching *f, const char *text)
{
    const struct call_step step = {
        .at_ms = (tx->now_us - f->fetch.started_us) / 1000, .kind = CALL_STEP_MESSAGE, .text = str_z(text)};
    return call_record_append(tx, &f->fetch.building, &f->fetch.call, &step);
}

static enum err note_lost(struct tx *tx, void *arg)
{
    const struct fetching *f = arg;
    enum err e = note_message(tx, f, "lost");
    return e ? e : job_done(tx, f->job->id);
}

static enum err add_message(struct tx *tx, const struct fetching *f)
{
    char text[24];
    const struct call_message m = {.call_id = f->fetch.call,
                                   .building_id = f->fetch.building,
                                   .caller = str_z(f->fetch.caller),
                                   .wav = buf_view(&f->wav),
                                   .seconds = f->seconds};
    snprintf(text, sizeof text, "%llds", (long long)f->seconds);
    enum err e = call_message_add(tx, &m);
    return e ? e : note_message(tx, f, text);
}

/* The later requests of Twilio for this recording must not bring the job back. */
static enum err mark_fetched(struct tx *tx, const struct fetching *f)
{
    struct twiml_session *s = arena_new(tx->arena, struct twiml_session);
    enum err e = twiml_session_get(tx, str_z(f->fetch.sid), s);
    if (e)
        return e == ERR_NOT_FOUND || e == ERR_INTERNAL_ERROR ? ERR_NONE : e;
    s->message = MESSAGE_FETCHED;
    return twiml_session_put(tx, s);
}

static enum err discard_all(struct tx *tx, const struct fetching *f)
{
    enum err e = ERR_NONE;
    for (size_t i = 0; i < f->recordings.count && !e; i++) {
        const struct str sid = str_z(f->recordings.sids[i]);
        e = job_add_once(tx, arena_printf(tx->arena, JOB_DISCARD ":%.*s", STR_ARG(sid)), JOB_DISCARD, tx->now_us, sid);
    }
    return e;
}

/* The message, and the work that is left, in one transaction. */
static enum err keep(struct tx *tx, void *arg)
{
    const struct fetching *f = arg;
    enum err e = f->seconds ? add_message(tx, f) : ERR_NONE;
    if (!e)
        e = mark_fetched(tx, f);
    if (!e)
        e = discard_all(tx, f);
    return e ? e : job_done(tx, f->job->id);
}

static enum err repeat_in(struct fetching *f, int64_t seconds)
{
    f->due_us = clock_now_us() + seconds * US_PER_S;
    return work_write(f->job->work, look_again, f);
}

static enum err lose(struct fetching *f, const char *why)
{
    log_error("message lost call=%s provider_call=%s reason=%s", f->fetch.call.text, f->fetch.sid, why);
    return work_write(f->job->work, note_lost, f);
}

/* Twilio lists no recording. */
static enum err nothing_listed(struct fetching *f)
{
    const int64_t waited_s = (clock_now_us() - f->fetch.asked_us) / US_PER_S;
    const bool heard = f->message == MESSAGE_HEARD;
    if (waited_s < (heard ? LOST_S : NOTHING_S))
        return repeat_in(f, heard ? LATER_S : NOTHING_S - waited_s);
    return heard ? lose(f, "not_listed") : ERR_NONE;
}

static enum err failed(struct fetching *f)
{
    const bool late = clock_now_us() - f->fetch.asked_us > GIVE_UP_US;
    return late ? lose(f, "provider_failed") : ERR_INTERNAL_ERROR;
}

static enum err fetch_recording(struct fetching *f, struct twilio *t)
{
    struct arena *a = f->job->work->arena;
    struct str bytes;
    const enum outcome o = twilio_download(t, arena_printf(a, "/Recordings/%s.wav", f->recordings.sids[0]), a, &bytes);
    if (o != OUTCOME_DONE || !convert(bytes, &f->wav, &f->seconds))
        return failed(f);
    enum err e = work_write(f->job->work, keep, f);
    if (e != ERR_NOT_FOUND)
        return e;
    f->seconds = 0; /* the building was removed meanwhile */
    return work_write(f->job->work, keep, f);
}

static enum err fetch_message(struct fetching *f, struct twilio *t)
{
    enum err e = work_read(f->job->work, look_at_call, f);
    if (e)
        return e;
    if (!f->over)
        return repeat_in(f, SOON_S);
    if (!t || list_recordings(t, &f->fetch, f->job->work->arena, &f->recordings) != OUTCOME_DONE)
        return failed(f);
    if (f->recordings.count)
        return fetch_recording(f, t);
    if (!f->recordings.pending)
        return nothing_listed(f);
    return clock_now_us() - f->fetch.asked_us < LOST_S * US_PER_S ? repeat_in(f, SOON_S) : failed(f);
}

static enum err fetch_run(void *context, const struct job *job)
{
    struct fetching *f = arena_new(job->work->arena, struct fetching);
    f->job = job;
    f->wav = BUF(MESSAGE_BYTES_MAX);
    if (!fetch_read(job->payload, &f->fetch)) {
        log_error("message lost job=%.*s reason=payload", STR_ARG(job->id));
        return ERR_NONE;
    }
    if (f->fetch.asked_us > job->created_us)
        f->fetch.asked_us = job->created_us; /* which is never later than now (jobs/time_bound.h) */
    const enum err e = fetch_message(f, context);
    buf_done(&f->wav);
    return e;
}

struct job_kind twiml_kind_message(struct twilio *t)
{
    return (struct job_kind){.name = JOB_FETCH, .run = fetch_run, .context = t};
}

/* ---- deleting at the provider ---- */

static enum err discard_run(void *context, const struct job *job)
{
    struct arena *a = job->work->arena;
    struct twilio_answer answer = {.status = 0};
    const struct twilio_request request = {.method = "DELETE",
                                           .path = arena_printf(a, "/Recordings/%.*s.json", STR_ARG(job->payload))};
    enum outcome o = OUTCOME_UNKNOWN;
    if (context && twilio_is_sid(job->payload, "RE"))
        o = twilio_call(context, &request, a, &answer);
    json_decref(answer.body);
    if (o == OUTCOME_DONE || answer.status == 404)
        return ERR_NONE;
    if (clock_now_us() - job->created_us < GIVE_UP_US)
        return ERR_INTERNAL_ERROR;
    log_error("message left at the provider recording=%.*s", STR_ARG(job->payload));
    return ERR_NONE;
}

struct job_kind twiml_kind_discard(struct twilio *t)
{
    return (struct job_kind){.name = JOB_DISCARD, .run = discard_run, .context = t};
}
