/* Recorded greetings of a building, for its page: the operator stores them (admin/greetings.c; SITE-28). */
#include "domain/recording.h"

#include "api/parts.h"
#include "domain/settings.h"
#include "resources/routes.h"

#define TAG     "Buildings"
#define WAV_MAX (RECORDING_MAX + 100)

/* ---- bodies ---- */

struct recording_item {
    struct val id, greeting, seconds, created_at;
};
static const struct field item_fields[] = {
    FIELD(struct recording_item, id, T_ID, .flags = F_REQUIRED, .doc = "another one after each change"),
    FIELD(struct recording_item, greeting, T_STRING, .flags = F_REQUIRED, .values = recording_names),
    FIELD(struct recording_item, seconds, T_INT, .flags = F_REQUIRED, .doc = "rounded up"),
    FIELD(struct recording_item, created_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape item_shape = SHAPE(struct recording_item, "Recording", item_fields);

struct recording_page {
    struct val data;
};
static const struct field page_fields[] = {
    FIELD(struct recording_page, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &item_shape),
};
static const struct shape page_shape = SHAPE(struct recording_page, "RecordingList", page_fields);

struct deleted {
    struct val id, deleted;
};
static const struct field deleted_fields[] = {
    FIELD(struct deleted, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct deleted, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape deleted_shape = SHAPE(struct deleted, "RecordingDeleted", deleted_fields);

/* ---- handlers ---- */

static enum err list_recordings(struct request *q, struct reply *p)
{
    struct recording list[GREETING_COUNT];
    size_t count;
    enum err e = recording_list(&q->tx, &q->building_id, list, &count);
    if (e)
        return e;
    struct recording_item *items = arena_array(q->tx.arena, struct recording_item, GREETING_COUNT);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct recording_item){
            .id = v_str(arena_str(q->tx.arena, id_str(&list[i].id))),
            .greeting = v_str(str_z(recording_names[list[i].which])),
            .seconds = v_int((list[i].length + RECORDING_RATE - 1) / RECORDING_RATE),
            .created_at = v_time(list[i].created_at_us),
        };
    return reply_copy(q, p, 200, &page_shape, &(struct recording_page){.data = v_list(items, count)});
}

static enum err get_recording(struct request *q, struct reply *p)
{
    enum greeting which;
    struct str ulaw;
    enum err e = recording_find(&q->tx, &q->building_id, &q->item_id, &which);
    if (!e)
        e = recording_audio(&q->tx, &q->item_id, &ulaw);
    if (e)
        return e;
    struct buf wav = BUF(WAV_MAX);
    q->parts->play(ulaw, &wav);
    *p = (struct reply){.status = 200, .raw = arena_str(q->tx.arena, buf_view(&wav))};
    buf_done(&wav);
    return ERR_NONE;
}

static enum err delete_recording(struct request *q, struct reply *p)
{
    enum greeting which;
    enum err e = recording_find(&q->tx, &q->building_id, &q->item_id, &which);
    if (!e)
        e = recording_remove(&q->tx, &q->building_id, which);
    return e ? e : reply_copy(q, p, 200, &deleted_shape, &(struct deleted){v_str(id_str(&q->item_id)), v_bool(true)});
}

#define PLACE  "/v1/buildings/{buildingId}/recordings"
#define ROW(s) .credential = CRED_WEB_SESSION, .scopes = SCOPE(s), .limit = LIMIT_KEY, .building = BUILDING_PATH

static const struct route rows[] = {
    ROUTE("listRecordings", GET, PLACE, ROW(ACCOUNT_READ), .run = RUN_READ, .handler = list_recordings,
          .reply = &page_shape, .flags = ROUTE_SITE_ONLY, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "List the recorded greetings of a building",
                           .description = "The operator stores them. Visitors hear one in place of its greeting's "
                                          "text, unless the text is empty.",
                           .flags = DOC_EXTENSION)),
    ROUTE("getRecording", GET, PLACE "/{recordingId}", ROW(ACCOUNT_READ), .run = RUN_READ, .handler = get_recording,
          .media = "audio/wav", .flags = ROUTE_SITE_ONLY, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Hear a recorded greeting", .description = "A WAV file: 8 kHz mu-law.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_INVALID_ID, ERR_NOT_FOUND))),
    ROUTE("deleteRecording", DELETE, PLACE "/{recordingId}", ROW(SETUP_WRITE), .run = RUN_WRITE,
          .handler = delete_recording, .reply = &deleted_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY,
          .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Delete a recorded greeting",
                           .description = "From the next call on, visitors hear the greeting's text. A recording that "
                                          "another one has replaced is not found.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_INVALID_ID, ERR_NOT_FOUND))),
};
const struct route_set recording_routes = ROUTE_SET(rows);
