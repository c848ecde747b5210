#include "domain/settings.h"

#include <stdatomic.h>

#include "api/parts.h"
#include "domain/recording.h"
#include "domain/work.h"
#include "resources/routes.h"

#define AUDIO_MAX 262144 /* bytes of a WAV file */
#define BUSY_S    1

struct preview_body {
    struct val greeting, text;
};
static const struct field preview_body_fields[] = {
    FIELD(struct preview_body, greeting, T_STRING, .flags = F_REQUIRED, .values = recording_names),
    FIELD(struct preview_body, text, T_STRING, .flags = F_UTF16, .max = GREETING_MAX, .error = ERR_INVALID_GREETING,
          .doc = "a text that is not saved; omitted: as visitors hear it now, the recording if there is one"),
};
static const struct shape preview_body_shape = SHAPE(struct preview_body, "GreetingPreview", preview_body_fields);

struct preview {
    const struct id *account, *building;
    enum greeting which;
    struct str text, recording; /* one of them is STR_NONE */
};

static enum err find_recording(struct tx *tx, struct preview *v)
{
    struct recording list[GREETING_COUNT];
    size_t count = 0;
    enum err e = recording_list(tx, v->building, list, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (list[i].which == v->which)
            e = recording_audio(tx, &list[i].id, &v->recording);
    return e;
}

static enum err read_preview(struct tx *tx, void *arg)
{
    struct preview *v = arg;
    struct settings s;
    v->text = v->recording = STR_NONE;
    enum err e = settings_get(tx, v->account, v->building, &s);
    if (e)
        return e;
    v->text = s.greetings[v->which];
    return find_recording(tx, v);
}

/* One text at a time: the speech of calls waits for it. */
static enum err speak(struct request *q, const struct speech_part *g, struct str text, struct buf *wav)
{
    static atomic_flag speaking = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&speaking)) {
        q->tx.retry_after_s = BUSY_S;
        q->building_id = (struct id){0}; /* as in every answer that limits requests */
        return tx_fail(&q->tx, ERR_RATE_LIMIT_EXCEEDED, "Another greeting is being spoken.");
    }
    const bool spoken = g->speak(text, wav);
    atomic_flag_clear(&speaking);
    return spoken ? ERR_NONE : tx_fail(&q->tx, ERR_INVALID_GREETING, "The greeting has nothing that can be spoken.");
}

static enum err preview_greeting(struct request *q, struct reply *p)
{
    const struct preview_body *body = q->body;
    struct preview v = {.account = &q->who.account_id,
                        .building = &q->building_id,
                        .which = (enum greeting)str_index(body->greeting.s, recording_names),
                        .text = v_given(body->text) ? body->text.s : STR_NONE};
    struct buf wav = BUF(AUDIO_MAX);
    const struct speech_part *g = q->parts->speech;
    if (!g)
        return tx_fail(&q->tx, ERR_NOT_FOUND, "The telephone provider speaks the greetings of this service.");
    enum err e = v.text.p ? ERR_NONE : work_read(&q->work, read_preview, &v);
    if (!e && v.recording.p)
        q->parts->play(v.recording, &wav);
    else if (!e)
        e = speak(q, g, v.text, &wav);
    if (!e)
        *p = (struct reply){.status = 200, .raw = arena_str(q->tx.arena, buf_view(&wav))};
    buf_done(&wav);
    return e;
}

static const struct route rows[] = {
    ROUTE("previewGreeting", POST, "/v1/buildings/{buildingId}/greetings/preview", .credential = CRED_KEY,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .building = BUILDING_PATH, .body = &preview_body_shape,
          .body_error = ERR_INVALID_SETTINGS, .run = RUN_BLOCKING, .handler = preview_greeting, .media = "audio/wav",
          .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc =
              ROUTE_DOC("Buildings", 200, "Hear a greeting",
                        .description =
                            "A WAV file of the greeting as visitors hear it: 8 kHz mu-law. One greeting is spoken at a "
                            "time: `RATE_LIMIT_EXCEEDED` with `Retry-After: 1` while there is another one. `NOT_FOUND` "
                            "if calls come by the webhooks of a telephone provider, which has a voice of its own.",
                        .body_example = "{\"greeting\": \"welcome\", \"text\": \"Please enter your code.\"}",
                        .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_INVALID_GREETING))),
};
const struct route_set greeting_routes = ROUTE_SET(rows);
