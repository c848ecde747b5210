#include "resources/routes.h"

#include "api/gate.h"
#include "domain/push.h"
#include "resources/language.h"
#include "resources/webhook_url.h"

#define TAG "Notices"

/* ---- bodies ---- */

struct notice_browser {
    struct val id, browser, system, current, notices, since, refused_at, refused_with;
};
static const struct field notice_browser_fields[] = {
    FIELD(struct notice_browser, id, T_ID, .flags = F_REQUIRED, .doc = "as in GET /app/v1/browsers"),
    FIELD(struct notice_browser, browser, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "such as Firefox"),
    FIELD(struct notice_browser, system, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "such as Android"),
    FIELD(struct notice_browser, current, T_BOOL, .flags = F_REQUIRED, .doc = "true for the calling browser"),
    FIELD(struct notice_browser, notices, T_STRINGS, .flags = F_REQUIRED, .values = notice_names),
    FIELD(struct notice_browser, since, T_TIME, .flags = F_REQUIRED),
    FIELD(struct notice_browser, refused_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "when the browser's push service did not take the last notice; null: it did, or there was none"),
    FIELD(struct notice_browser, refused_with, T_INT, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the status of its answer; 0: there was none"),
};
static const struct shape notice_browser_shape = SHAPE(struct notice_browser, "NoticeBrowser", notice_browser_fields);

struct notices_body {
    struct val application_server_key, browsers, email;
};
static const struct field notices_body_fields[] = {
    FIELD(struct notices_body, application_server_key, T_STRING, .flags = F_REQUIRED,
          .doc = "the service's public key, for PushManager.subscribe(); base64url"),
    FIELD(struct notices_body, browsers, T_OBJECTS, .flags = F_REQUIRED, .sub = &notice_browser_shape,
          .doc = "the person's browsers that get notices of this building, newest first"),
    FIELD(struct notices_body, email, T_STRINGS, .flags = F_REQUIRED, .values = notice_mail_names,
          .doc = "the notices of this building that are sent to the person's e-mail address"),
};
static const struct shape notices_body_shape = SHAPE(struct notices_body, "Notices", notices_body_fields);

struct push_body {
    struct val endpoint, p256dh, auth, notices;
};
static const struct field push_body_fields[] = {
    FIELD(struct push_body, endpoint, T_STRING, .flags = F_REQUIRED, .min = 1, .max = PUSH_ENDPOINT_MAX,
          .format = "uri", .doc = "of the browser's PushSubscription; https and publicly reachable"),
    FIELD(struct push_body, p256dh, T_STRING, .flags = F_REQUIRED, .max = 128,
          .doc = "its key p256dh: an uncompressed point of P-256, base64url"),
    FIELD(struct push_body, auth, T_STRING, .flags = F_REQUIRED | F_SECRET, .max = 64,
          .doc = "its key auth: 16 bytes, base64url"),
    FIELD(struct push_body, notices, T_STRINGS, .flags = F_REQUIRED, .min = 1, .max = NOTICE_COUNT,
          .values = notice_names),
};
static const struct shape push_body_shape = SHAPE(struct push_body, "PushSubscription", push_body_fields);

struct email_body {
    struct val notices;
};
static const struct field email_body_fields[] = {
    FIELD(struct email_body, notices, T_STRINGS, .flags = F_REQUIRED, .max = NOTICE_COUNT, .values = notice_mail_names,
          .doc = "an empty list ends the mails"),
};
static const struct shape email_body_shape = SHAPE(struct email_body, "NoticesByEmail", email_body_fields);

struct queued_body {
    struct val queued;
};
static const struct field queued_body_fields[] = {
    FIELD(struct queued_body, queued, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape queued_body_shape = SHAPE(struct queued_body, "NoticeQueued", queued_body_fields);

static struct val list_notices(struct arena *a, unsigned notices)
{
    struct val *names = arena_array(a, struct val, NOTICE_COUNT);
    size_t n = 0;
    for (unsigned i = 0; i < NOTICE_TEST; i++)
        if (notices & 1U << i)
            names[n++] = v_str(str_z(notice_names[i]));
    return v_list(names, n);
}

static enum err read_notices(struct request *q, struct val list, unsigned *ret)
{
    const struct val *names = list.ptr;
    unsigned bits = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const unsigned bit = 1U << str_index(names[i].s, notice_names);
        if (bits & bit)
            return tx_fail(&q->tx, ERR_INVALID_NOTICES, "notices: each may be listed once");
        bits |= bit;
    }
    if (bits & ~notice_allowed(&q->who))
        return tx_fail(&q->tx, ERR_INVALID_NOTICES, "notices: a manager of codes answers no calls");
    *ret = bits;
    return ERR_NONE;
}

/* ---- reading ---- */

static struct notice_browser notice_browser_of(struct arena *a, const struct push_entry *p,
                                               const struct push_browser *mine, unsigned allowed)
{
    return (struct notice_browser){
        .id = v_str(id_str(&p->browser_id)),
        .browser = v_str(p->program),
        .system = v_str(p->system),
        .current = v_bool(memcmp(&p->browser, mine, sizeof *mine) == 0),
        .notices = list_notices(a, p->notices & allowed),
        .since = v_time(p->created_us),
        .refused_at = p->refused_at,
        .refused_with = p->refused_with,
    };
}

static enum err reply_notices(struct tx *tx, const struct request *q, struct notices_body *ret)
{
    struct arena *a = tx->arena;
    const unsigned allowed = notice_allowed(&q->who);
    const struct push_entry *entries;
    struct push_browser mine;
    size_t count;
    unsigned mail;
    struct str point;
    enum err e = push_browser_of(tx, &q->who.account_id, &q->who.key_id, &mine);
    if (!e)
        e = push_list(tx, &q->building_id, &q->who.member_id, &entries, &count);
    if (!e)
        e = notice_mail_get(tx, &q->who, &q->building_id, &mail);
    if (!e)
        e = push_key_point(tx, &point);
    if (e)
        return e;
    struct notice_browser *browsers = arena_array(a, struct notice_browser, count);
    for (size_t i = 0; i < count; i++)
        browsers[i] = notice_browser_of(a, &entries[i], &mine, allowed);
    *ret = (struct notices_body){v_str(point), v_list(browsers, count), list_notices(a, mail & allowed)};
    return ERR_NONE;
}

static enum err get_notices(struct request *q, struct reply *p)
{
    struct notices_body *body = arena_new(q->tx.arena, struct notices_body);
    enum err e = reply_notices(&q->tx, q, body);
    return e ? e : reply_ok(p, 200, &notices_body_shape, body);
}

/* ---- this browser ---- */

struct subscribing {
    const struct request *q;
    struct push_request request;
    struct notices_body body; /* afterwards */
};

static enum err run_subscribe(struct tx *tx, void *arg)
{
    struct subscribing *s = arg;
    const struct request *q = s->q;
    enum err e = push_browser_of(tx, &q->who.account_id, &q->who.key_id, &s->request.browser);
    if (!e)
        e = push_subscribe(tx, &s->request);
    return e ? e : reply_notices(tx, q, &s->body);
}

static enum err check_endpoint(struct request *q, struct str endpoint)
{
    enum err e = webhook_url_check(q, endpoint);
    if (e != ERR_INVALID_WEBHOOK_URL)
        return e;
    q->tx.why = arena_printf(q->tx.arena, "endpoint: %.*s", STR_ARG(q->tx.why));
    return ERR_INVALID_NOTICES;
}

static enum err put_push(struct request *q, struct reply *p)
{
    const struct push_body *in = q->body;
    struct subscribing *s = arena_new(q->tx.arena, struct subscribing);
    s->q = q;
    s->request = (struct push_request){.account_id = q->who.account_id,
                                       .building_id = q->building_id,
                                       .member_id = q->who.member_id,
                                       .language = request_language(q),
                                       .endpoint = in->endpoint.s};
    enum err e = read_notices(q, in->notices, &s->request.notices);
    if (!e && !webpush_receiver_parse(in->p256dh.s, in->auth.s, &s->request.keys))
        e = tx_fail(&q->tx, ERR_INVALID_NOTICES, "p256dh and auth must be the keys of a PushSubscription");
    if (!e)
        e = check_endpoint(q, in->endpoint.s);
    if (!e)
        e = gate_write(q, run_subscribe, s);
    return e ? e : reply_ok(p, 200, &notices_body_shape, &s->body);
}

static enum err delete_push(struct request *q, struct reply *p)
{
    struct push_browser mine;
    enum err e = push_browser_of(&q->tx, &q->who.account_id, &q->who.key_id, &mine);
    if (!e)
        e = push_unsubscribe(&q->tx, &q->building_id, &mine);
    return e ? e : get_notices(q, p);
}

static enum err test_push(struct request *q, struct reply *p)
{
    struct push_browser mine;
    enum err e = push_browser_of(&q->tx, &q->who.account_id, &q->who.key_id, &mine);
    if (!e)
        e = push_test(&q->tx, &q->who.account_id, &q->building_id, &mine);
    if (e)
        return e;
    return reply_copy(q, p, 202, &queued_body_shape, &(struct queued_body){.queued = v_bool(true)});
}

/* ---- by e-mail ---- */

static enum err put_email(struct request *q, struct reply *p)
{
    const struct email_body *in = q->body;
    unsigned notices;
    enum err e = read_notices(q, in->notices, &notices);
    if (!e)
        e = notice_mail_set(&q->tx, &q->who, &q->building_id, notices, request_language(q));
    return e ? e : get_notices(q, p);
}

#define ROW                                                                                                            \
    .credential = CRED_WEB_SESSION, .people = PEOPLE_ALL, .scopes = SCOPE(LOGS_READ), .limit = LIMIT_KEY,              \
    .building = BUILDING_PATH
#define PLACE "/v1/buildings/{buildingId}/notices"

static const struct route rows[] = {
    ROUTE("getNotices", GET, PLACE, ROW, .run = RUN_READ, .handler = get_notices, .reply = &notices_body_shape,
          .flags = ROUTE_SITE_ONLY, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Read the notices of a building that the calling person gets",
              .description =
                  "`ring`: someone calls the door; not for managers of codes. `refused`: a wrong code. `opened`: a "
                  "grant opened the door. "
                  "`last_use`: it did so for the last time. `guessing`: the keypad is closed because of wrong codes.",
              .flags = DOC_EXTENSION)),
    ROUTE("subscribeBrowser", PUT, PLACE "/push", ROW, .body = &push_body_shape, .body_error = ERR_INVALID_NOTICES,
          .run = RUN_BLOCKING, .handler = put_push, .reply = &notices_body_shape, .flags = ROUTE_SITE_ONLY,
          .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Send notices of a building to the calling browser",
                           .description =
                               "Web Push (RFC 8030, 8291, 8292), in the language of `Accept-Language`. Replaces the "
                               "browser's earlier choice. The subscription ends with the browser's sign-in. A browser "
                               "has one endpoint: the newest one holds for its other buildings too.",
                           .body_example = "{\"endpoint\":\"https://push.example.com/send/"
                                           "abc\",\"p256dh\":\"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-"
                                           "AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4\",\"auth\":\"BTBZMqHH6r4Tts7J_"
                                           "aSIgg\",\"notices\":[\"ring\",\"opened\"]}",
                           .flags = DOC_EXTENSION)),
    ROUTE("unsubscribeBrowser", DELETE, PLACE "/push", ROW, .run = RUN_WRITE, .handler = delete_push,
          .reply = &notices_body_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Send no more notices of a building to the calling browser; can be repeated",
                           .flags = DOC_EXTENSION)),
    ROUTE("testBrowser", POST, PLACE "/push/test", ROW, .run = RUN_WRITE, .handler = test_push,
          .reply = &queued_body_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_TEST_FAILED,
          .doc = ROUTE_DOC(TAG, 202, "Send a test notice to the calling browser",
                           .description = "Queued does not mean shown.", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("setNoticesByEmail", PUT, PLACE "/email", ROW, .body = &email_body_shape, .body_error = ERR_INVALID_NOTICES,
          .run = RUN_WRITE, .handler = put_email, .reply = &notices_body_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Choose the notices of a building that come by e-mail",
              .description =
                  "To the calling person, in the language of `Accept-Language`. At most twenty mails at once, then one "
                  "in three minutes; "
                  "those beyond are not sent. Of guessing, the owner is told by e-mail in any case, once a day.",
              .body_example = "{\"notices\":[\"opened\",\"last_use\"]}", .flags = DOC_EXTENSION)),
};
const struct route_set notice_routes = ROUTE_SET(rows);
