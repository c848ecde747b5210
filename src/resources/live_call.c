/* A resident and a call in progress, without a telephone. */
#include "api/parts.h"
#include "resources/routes.h"

#include <stdlib.h>

#include "domain/call_record.h"

/* ---- bodies ---- */

struct opening_request {
    struct val listener_id;
};
static const struct field opening_request_fields[] = {
    FIELD(struct opening_request, listener_id, T_ID, .flags = F_NULLABLE, .error = ERR_INVALID_ID,
          .doc = "the listener of the page that asks, if it has one"),
};
static const struct shape opening_request_shape = SHAPE(struct opening_request, "OpenCall", opening_request_fields);

struct opened {
    struct val call_id, opened;
};
static const struct field opened_fields[] = {
    FIELD(struct opened, call_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct opened, opened, T_BOOL, .flags = F_REQUIRED, .doc = "true: the release tone is on its way"),
};
static const struct shape opened_shape = SHAPE(struct opened, "CallOpened", opened_fields);

struct listen_request {
    struct val sdp;
};
static const struct field listen_request_fields[] = {
    FIELD(struct listen_request, sdp, T_STRING, .flags = F_REQUIRED, .min = 1, .max = 16384,
          .doc = "the browser's offer (RTCPeerConnection): audio, sendrecv or recvonly. Its candidates are not read"),
};
static const struct shape listen_request_shape = SHAPE(struct listen_request, "ListenToCall", listen_request_fields);

struct listening {
    struct val listener_id, sdp, answered;
};
static const struct field listening_fields[] = {
    FIELD(struct listening, listener_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct listening, sdp, T_STRING, .flags = F_REQUIRED, .doc = "the answer"),
    FIELD(struct listening, answered, T_BOOL, .flags = F_REQUIRED, .doc = "someone talks to the visitor already"),
};
static const struct shape listening_shape = SHAPE(struct listening, "CallListener", listening_fields);

struct answer_request {
    struct val listener_id;
};
static const struct field answer_request_fields[] = {
    FIELD(struct answer_request, listener_id, T_ID, .flags = F_REQUIRED),
};
static const struct shape answer_request_shape = SHAPE(struct answer_request, "AnswerCall", answer_request_fields);

struct answered {
    struct val call_id, listener_id;
};
static const struct field answered_fields[] = {
    FIELD(struct answered, call_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct answered, listener_id, T_ID, .flags = F_REQUIRED, .doc = "the browser that talks to the visitor"),
};
static const struct shape answered_shape = SHAPE(struct answered, "CallAnswered", answered_fields);

struct left {
    struct val id, deleted;
};
static const struct field left_fields[] = {
    FIELD(struct left, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct left, deleted, T_BOOL, .flags = F_REQUIRED),
};
static const struct shape left_shape = SHAPE(struct left, "CallListenerDeleted", left_fields);

/* ---- commands ---- */

struct lookup {
    const struct call_command *command;
    struct recorded_call record;
};

static enum err find_record(struct tx *tx, void *arg)
{
    struct lookup *l = arg;
    return call_record_get(tx, &l->command->building_id, &l->command->call_id, &l->record);
}

/* The user agent here does not have the call: the record says why. */
static enum err explain(struct request *q, const struct call_command *command)
{
    struct lookup l = {.command = command};
    const enum err e = work_read(&q->work, find_record, &l);
    if (e)
        return e;
    if (!l.record.ended_us && !str_eq(l.record.front, STR("sip")))
        return ERR_CALL_ELSEWHERE;
    if (l.record.ended_us || store_exclusive(q->work.store))
        return ERR_CALL_ENDED;
    return ERR_CALL_UNREACHABLE;
}

static enum err command_call(struct request *q, const struct call_command *command, struct call_command_result *ret)
{
    const struct parts *p = q->parts;
    *ret = (struct call_command_result){.why = NULL};
    const enum err e = p->command_call ? p->command_call(p->command_arg, command, ret) : ERR_NOT_FOUND;
    if (e && ret->why)
        return tx_fail(&q->tx, e, ret->why);
    return e == ERR_NOT_FOUND ? explain(q, command) : e;
}

static struct call_command command_of(const struct request *q, enum call_command_kind kind)
{
    return (struct call_command){.kind = kind,
                                 .building_id = q->building_id,
                                 .call_id = q->path_id,
                                 .account_id = q->who.account_id,
                                 .key_id = q->who.key_id,
                                 .person = q->who.web_session,
                                 .listener_id = q->item_id};
}

/* ---- handlers ---- */

static enum err open_call(struct request *q, struct reply *p)
{
    const struct call_command command = command_of(q, CALL_COMMAND_OPEN);
    struct call_command_result result;
    const enum err e = command_call(q, &command, &result);
    if (e)
        return e;
    return reply_copy(q, p, 200, &opened_shape, &(struct opened){v_str(id_str(&q->path_id)), v_bool(true)});
}

static enum err listen_to_call(struct request *q, struct reply *p)
{
    const struct listen_request *in = q->body;
    struct call_command command = command_of(q, CALL_COMMAND_LISTEN);
    struct call_command_result result;
    command.offer = in->sdp.s;
    const enum err e = command_call(q, &command, &result);
    if (e)
        return e;
    struct listening *body = arena_new(q->tx.arena, struct listening);
    *body = (struct listening){v_str(arena_str(q->tx.arena, id_str(&result.listener_id))),
                               v_str(arena_str(q->tx.arena, str_z(result.answer))), v_bool(result.answered)};
    free(result.answer);
    return reply_ok(p, 201, &listening_shape, body);
}

static enum err answer_call(struct request *q, struct reply *p)
{
    const struct answer_request *in = q->body;
    struct call_command command = command_of(q, CALL_COMMAND_ANSWER);
    struct call_command_result result;
    if (!id_parse(in->listener_id.s, &command.listener_id))
        return ERR_INVALID_ID;
    const enum err e = command_call(q, &command, &result);
    if (e)
        return e;
    return reply_copy(q, p, 200, &answered_shape, &(struct answered){v_str(id_str(&q->path_id)), in->listener_id});
}

static enum err leave_call(struct request *q, struct reply *p)
{
    const struct call_command command = command_of(q, CALL_COMMAND_LEAVE);
    struct call_command_result result;
    const enum err e = command_call(q, &command, &result);
    if (e)
        return e;
    return reply_copy(q, p, 200, &left_shape, &(struct left){v_str(id_str(&q->item_id)), v_bool(true)});
}

#define TAG "Calls"

/* An offer as browsers make it, in few lines. */
#define EXAMPLE_OFFER                                                                                                  \
    "{\"sdp\": \"v=0\\r\\no=- 1 1 IN IP4 127.0.0.1\\r\\ns=-\\r\\nt=0 0\\r\\na=group:BUNDLE 0\\r\\n"                    \
    "m=audio 9 UDP/TLS/RTP/SAVPF 0 8\\r\\nc=IN IP4 0.0.0.0\\r\\na=mid:0\\r\\na=sendrecv\\r\\na=rtcp-mux\\r\\n"         \
    "a=ice-ufrag:Brow\\r\\na=ice-pwd:0123456789012345678901\\r\\na=setup:actpass\\r\\n"                                \
    "a=fingerprint:sha-256 AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:"                                           \
    "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB\\r\\n"                                                            \
    "a=rtpmap:0 PCMU/8000\\r\\na=rtpmap:8 PCMA/8000\\r\\n\"}"

static const struct route rows[] = {
    ROUTE("openCall", POST, "/v1/calls/{id}/open", .credential = CRED_KEY, .people = PEOPLE_RESIDENT,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .body = &opening_request_shape, .body_error = ERR_INVALID_ID, .body_optional = true, .run = RUN_BLOCKING,
          .handler = open_call, .reply = &opened_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Open the door in a call",
                        .description =
                            "Sends the building's release tone to the call box, as key 9 of the resident's phone does, "
                            "while phones ring or someone talks to the visitor. While phones ring, they stop, and the "
                            "call ends after the tone. A request while the tone is sent has no further effect.",
                        .body_example = "{}", .flags = DOC_EXTENSION,
                        .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_CALL_NOT_FORWARDED, ERR_CALL_ENDED,
                                               ERR_CALL_ELSEWHERE, ERR_SETUP_REQUIRED, ERR_CALL_UNREACHABLE))),
    ROUTE(
        "listenToCall", POST, "/v1/calls/{id}/listen", .credential = CRED_KEY, .people = PEOPLE_RESIDENT,
        .scopes = SCOPE(CALLS_LISTEN), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .body = &listen_request_shape,
        .body_error = ERR_INVALID_SDP, .run = RUN_BLOCKING, .handler = listen_to_call, .reply = &listening_shape,
        .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
        .doc = ROUTE_DOC(
            TAG, 201, "Listen to the visitor in a browser",
            .description =
                "Takes an offer of WebRTC and answers it: the browser hears the visitor, who does not hear it. For "
                "calls that are with the resident, while phones ring or someone talks. A call box that was not "
                "answered yet is answered, because it is heard only then, and hears that phones ring. To answer the "
                "call, send the microphone's track with `replaceTrack`, and `POST /v1/calls/{id}/answer`. A connection "
                "that does not come up within 15 seconds is dropped. The call's record names the key. Once someone "
                "talks to the visitor, only website sessions may listen: both sides then hear a short tone, and other "
                "keys get 409 `CALL_ANSWERED`, or are dropped. A key that ends is dropped within seconds.",
            .body_example = EXAMPLE_OFFER, .flags = DOC_EXTENSION,
            .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_CALL_NOT_FORWARDED, ERR_CALL_ANSWERED, ERR_CALL_ENDED,
                                   ERR_CALL_ELSEWHERE, ERR_TOO_MANY_LISTENERS, ERR_CALL_UNREACHABLE))),
    ROUTE("answerCall", POST, "/v1/calls/{id}/answer", .credential = CRED_KEY, .people = PEOPLE_RESIDENT,
          .scopes = SCOPE(ACCESS_WRITE) | SCOPE(CALLS_LISTEN), .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .body = &answer_request_shape, .body_error = ERR_INVALID_ID, .run = RUN_BLOCKING, .handler = answer_call,
          .reply = &answered_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Answer a call in a browser",
              .description =
                  "The listener talks to the visitor, and the phones stop ringing. Repeated by the same listener, it "
                  "has no further effect. If the browser is lost, the call ends as if a phone hung up.",
              .body_example = "{\"listener_id\": \"6b018faceb9d0c2ba6000003\"}", .flags = DOC_EXTENSION,
              .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_CALL_ANSWERED, ERR_CALL_ENDED, ERR_CALL_ELSEWHERE,
                                     ERR_CALL_UNREACHABLE))),
    ROUTE("leaveCall", DELETE, "/v1/calls/{id}/listeners/{listenerId}", .credential = CRED_KEY,
          .people = PEOPLE_RESIDENT, .scopes = SCOPE(CALLS_LISTEN), .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .run = RUN_BLOCKING, .handler = leave_call, .reply = &left_shape, .flags = ROUTE_SITE,
          .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Stop listening to a call",
                           .description = "If the listener had answered the call, this ends it for the visitor.",
                           .flags = DOC_EXTENSION,
                           .errors =
                               ROUTE_ERRORS(ERR_NOT_FOUND, ERR_CALL_ENDED, ERR_CALL_ELSEWHERE, ERR_CALL_UNREACHABLE))),
};
const struct route_set live_call_routes = ROUTE_SET(rows);
