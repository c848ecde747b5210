#include "sandbox/routes.h"

#include "api/parts.h"
#include "base/forms.h"
#include "call/decide.h"
#include "call/log.h"
#include "call/sound.h"
#include "call/wav.h"
#include "call/words.h"
#include "domain/call_message.h"
#include "jobs/queue.h"
#include "sandbox/dial.h"

#define SPEECH_MAX 200
#define TONE_HZ    400 /* of a message */
#define TONE_LEVEL 4000

struct call_request {
    struct val to, from, digits, speech, answer_forward, resident, message_seconds;
};

struct near_reply {
    struct val grant_id, label, why;
};

struct call_reply {
    struct val call_id, outcome, reason, tones, grant_id, grant_label, near_misses, said, recorded, forwarded_to, rang,
        opened, message_seconds, duration_ms;
};

static const struct field near_fields[] = {
    FIELD(struct near_reply, grant_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct near_reply, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct near_reply, why, T_STRING, .flags = F_REQUIRED, .values = access_why_names),
};
static const struct shape near_shape = SHAPE(struct near_reply, "SandboxNearMiss", near_fields);

static const char *const outcomes[] = {"released", "forwarded", "rejected", "owner_call", NULL};

static const struct field request_fields[] = {
    FIELD(struct call_request, to, T_STRING, .flags = F_REQUIRED, NUMBER_FORM,
          .doc = "the dialled virtual number, or an extension"),
    FIELD(struct call_request, from, T_STRING, .flags = F_NULLABLE, PHONE_FORM,
          .doc = "the caller's number; default: none"),
    FIELD(struct call_request, digits, T_STRING, .flags = F_NULLABLE, FORM("^[0-9*#]*$", "keys: 0 to 9, * and #"),
          .max = 64, .doc = "keys the visitor presses when asked for a code; several codes in a row are possible"),
    FIELD(struct call_request, speech, T_STRING, .flags = F_NULLABLE, .max = SPEECH_MAX,
          .doc = "digits the visitor speaks: \"one two three four\", \"oh\", \"double five\". Ignored where speech is "
                 "not understood"),
    FIELD(struct call_request, answer_forward, T_BOOL,
          .doc = "the resident answers a forwarded call; default true. `resident` says more"),
    FIELD(struct call_request, resident, T_STRING, .values = dial_resident_names,
          .doc =
              "what happens to a forwarded call: the resident talks, opens the door, or nobody talks to the visitor"),
    FIELD(struct call_request, message_seconds, T_INT, .min = 0, .max = CALL_MESSAGE_S,
          .doc = "length of the message, a tone, that the visitor leaves if asked to; default 0: none"),
};
static const struct shape request_shape = SHAPE(struct call_request, "SandboxCall", request_fields);

static const struct field reply_fields[] = {
    FIELD(struct call_reply, call_id, T_ID, .flags = F_REQUIRED, .doc = "of the record: GET /v1/calls/{id}"),
    FIELD(struct call_reply, outcome, T_STRING, .flags = F_REQUIRED, .values = outcomes),
    FIELD(struct call_reply, reason, T_STRING, .flags = F_REQUIRED, .values = access_reason_names,
          .doc = "reason why the door was released, or why it was not"),
    FIELD(struct call_reply, tones, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the release tone that was sent"),
    FIELD(struct call_reply, grant_id, T_ID, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "ID of the grant that released the door"),
    FIELD(struct call_reply, grant_label, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "its label"),
    FIELD(struct call_reply, near_misses, T_OBJECTS, .flags = F_REQUIRED, .sub = &near_shape,
          .doc = "for a forwarded call: the newest grants that could not be used, at most five"),
    FIELD(struct call_reply, said, T_STRINGS, .flags = F_REQUIRED, .doc = "texts that the caller heard"),
    FIELD(struct call_reply, recorded, T_STRINGS, .flags = F_REQUIRED,
          .doc = "those of them in whose place a recording is played in a call with sound"),
    FIELD(struct call_reply, forwarded_to, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the first phone that rang; null if there is no phone"),
    FIELD(struct call_reply, rang, T_STRINGS, .flags = F_REQUIRED, .doc = "all phones that rang"),
    FIELD(struct call_reply, opened, T_BOOL, .flags = F_REQUIRED, .doc = "the resident opened the door"),
    FIELD(struct call_reply, message_seconds, T_INT, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "length of the message that the caller left: GET /v1/calls/{id}/message; null: no message"),
    FIELD(struct call_reply, duration_ms, T_INT, .flags = F_REQUIRED,
          .doc = "processing time plus the silences in the call; nothing is played or waited for"),
};
static const struct shape reply_shape = SHAPE(struct call_reply, "SandboxCallEnded", reply_fields);

/* Passes the call machine's questions to the store, as calls with media do. */
struct asking {
    struct decide decide;
    struct store *store;
};

static struct call_event ask_store(void *arg, const struct call *c, const struct call_action *action)
{
    struct asking *asking = arg;
    decide_now(&asking->decide, c, action, asking->store);
    return decide_event(&asking->decide);
}

static struct val text_or_null(struct arena *a, const char *text)
{
    return *text ? v_str(arena_str(a, str_z(text))) : v_null();
}

static struct val near_misses(struct arena *a, const struct access_decision *d)
{
    struct near_reply *list = arena_array(a, struct near_reply, d->near_count + 1);
    for (size_t i = 0; i < d->near_count; i++)
        list[i] = (struct near_reply){
            .grant_id = text_or_null(a, d->near[i].grant_id.text),
            .label = v_str(arena_str(a, d->near[i].label)),
            .why = v_str(str_z(access_why_names[d->near[i].why])),
        };
    return v_list(list, d->near_count);
}

/* Copies the outcome out of the call and the last decision. Fails with ERR_INTERNAL_ERROR if the call ended without an
 * outcome. */
static enum err fill_call_body(const struct dial *d, const struct access_decision *last, struct tx *tx, struct id id,
                               int64_t took_ms, struct call_reply *ret)
{
    if (d->call.outcome == CALL_NO_OUTCOME)
        return ERR_INTERNAL_ERROR;
    struct val *said = arena_array(tx->arena, struct val, d->said_count + 1);
    struct val *recorded = arena_array(tx->arena, struct val, d->said_count + 1);
    size_t recorded_count = 0;
    for (size_t i = 0; i < d->said_count; i++) {
        said[i] = v_str(arena_str(tx->arena, str_z(d->said[i])));
        if (d->recordings[i])
            recorded[recorded_count++] = said[i];
    }
    const size_t rang_count = d->forwarded ? d->call.ring.count : 0;
    struct val *rang = arena_array(tx->arena, struct val, rang_count + 1);
    for (size_t i = 0; i < rang_count; i++)
        rang[i] = v_str(arena_str(tx->arena, str_z(d->call.ring.phones[i])));
    *ret = (struct call_reply){
        .call_id = text_or_null(tx->arena, id.text),
        .outcome = v_str(str_z(call_outcome_name(d->call.outcome))),
        .reason = v_str(str_z(access_reason_names[d->call.reason])),
        .tones = text_or_null(tx->arena, d->tones),
        .grant_id = text_or_null(tx->arena, d->call.grant_id.text),
        .grant_label = id_given(&d->call.grant_id) ? v_str(arena_str(tx->arena, last->grant_label)) : v_null(),
        .near_misses = near_misses(tx->arena, last),
        .said = v_list(said, d->said_count),
        .recorded = v_list(recorded, recorded_count),
        .forwarded_to = text_or_null(tx->arena, rang_count ? d->call.ring.phones[0] : ""),
        .rang = v_list(rang, rang_count),
        .opened = v_bool(d->call.opened),
        .message_seconds = d->message_s ? v_int(d->message_s) : v_null(),
        .duration_ms = v_int(took_ms),
    };
    return ERR_NONE;
}

/* The log line of every call. */
static void log_simulated_call(const struct dial *d, const struct decide *decide, struct id id, int64_t took_ms)
{
    struct call_record r = {.source = "sandbox", .established = true, .duration_ms = took_ms};
    memcpy(r.id, id.text, sizeof id.text);
    memcpy(r.caller, decide->from, sizeof decide->from);
    memcpy(r.dialled, decide->to, sizeof decide->to);
    call_log(&d->call, &r);
}

struct ended_call {
    struct dial *dial;
    int64_t took_ms;
};

/* A tone as long as the message. */
static enum err keep_message_tone(struct tx *tx, const struct dial *d)
{
    const size_t n = (size_t)d->message_s * SOUND_RATE;
    int16_t *samples = arena_array(tx->arena, int16_t, n);
    struct buf wav = BUF(MESSAGE_BYTES_MAX);
    struct call_message m = {.call_id = d->story.arrival.id,
                             .building_id = d->call.building_id,
                             .caller = str_z(d->story.arrival.caller),
                             .seconds = d->message_s};
    for (size_t i = 0; i < n; i++)
        samples[i] = i / (SOUND_RATE / TONE_HZ / 2) % 2 ? -TONE_LEVEL : TONE_LEVEL;
    wav_write(samples, n, &wav);
    m.wav = buf_view(&wav);
    enum err e = call_message_add(tx, &m);
    buf_done(&wav);
    return e;
}

static enum err write_ended(struct tx *tx, void *arg)
{
    const struct ended_call *ended = arg;
    enum err e = story_write(tx, &ended->dial->story, ended->took_ms);
    return e || !ended->dial->message_s ? e : keep_message_tone(tx, ended->dial);
}

static const char *call_number(struct arena *a, struct val given)
{
    return v_set(given) ? arena_str(a, given.s).p : "";
}

static enum dial_resident resident_of(const struct call_request *body)
{
    if (!v_set(body->resident))
        return v_set(body->answer_forward) && !body->answer_forward.b ? DIAL_NO_ANSWER : DIAL_ANSWERED;
    return (enum dial_resident)str_index(body->resident.s, dial_resident_names);
}

static enum err place_call(struct request *q, struct reply *p)
{
    const struct call_request *body = q->body;
    struct arena *a = q->tx.arena;
    char spoken[CALL_CODE_MAX * 4 + 1] = "";
    if (v_set(body->speech) && !words_to_digits(body->speech.s, spoken, sizeof spoken))
        spoken[0] = '\0'; /* words other than digits are ignored, like noise */
    struct asking *asking = arena_new(a, struct asking);
    struct dial *dial = arena_new(a, struct dial);
    struct call_reply *ended = arena_new(a, struct call_reply);
    asking->store = q->parts->store;
    decide_init(&asking->decide, q->tx.config, call_number(a, body->to), call_number(a, body->from));
    asking->decide.trace = q->tx.trace;
    dial->digits = v_set(body->digits) ? body->digits.s : STR_NONE;
    dial->speech = str_z(spoken);
    dial->hears = parts_hear(q->parts, q->tx.config);
    dial->resident = resident_of(body);
    dial->speaks_s = v_set(body->message_seconds) ? body->message_seconds.i : 0;
    dial->ask = ask_store;
    dial->arg = asking;
    story_begin(&dial->story, CALL_FRONT_SANDBOX, "sandbox", asking->decide.to, asking->decide.from);
    asking->decide.arrival = &dial->story.arrival;

    dial_run(dial);
    const int64_t took_ms = dial_now_ms(dial);
    const struct id id = dial->story.arrival.id;
    log_simulated_call(dial, &asking->decide, id, took_ms);
    const enum err failed = asking->decide.result;
    enum err e = fill_call_body(dial, &asking->decide.decision, &q->tx, id, took_ms, ended);
    if (e && failed)
        e = failed;
    if (!e && !failed) /* a store that did not decide in time would not record in time either */
        e = work_write(&q->work, write_ended, &(struct ended_call){dial, took_ms});
    decide_done(&asking->decide);
    return e ? e : reply_ok(p, 200, &reply_shape, ended);
}

static const struct route rows[] = {
    ROUTE("placeSandboxCall", POST, "/sandbox/calls", .credential = CRED_LOOPBACK, .body = &request_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = place_call, .reply = &reply_shape,
          .doc = ROUTE_DOC(
              "Sandbox", 200, "Simulate a visitor's call",
              .description = "Runs the same call logic and transactions as a telephone call, and replies when the call "
                             "has ended. Silences are counted in `duration_ms`, not waited for.",
              .body_example = "{\"to\": \"+15550100000\", \"from\": \"+15550001111\", \"digits\": \"1234\"}")),
};
const struct route_set sandbox_calls_routes = ROUTE_SET(rows);
