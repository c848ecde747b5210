#include "sandbox/routes.h"

#include "domain/building.h"
#include "domain/session.h"
#include "resources/sign_in.h"

struct account_request {
    struct val email, browser, timezone;
};
struct account_reply {
    struct val account_id, building_id, email, key, key_ends_at;
};

static const struct field request_fields[] = {
    FIELD(struct account_request, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .max = 254,
          .format = "email", .error = ERR_INVALID_EMAIL, .doc = "e-mail of the account"),
    FIELD(struct account_request, browser, T_BOOL,
          .doc = "also sign the browser that asks in to the website; default: false"),
    FIELD(struct account_request, timezone, T_STRING, .max = 64, .doc = "with browser: " SIGN_IN_ZONE_DOC),
};
static const struct shape request_shape = SHAPE(struct account_request, "SandboxAccount", request_fields);

static const struct field reply_fields[] = {
    FIELD(struct account_reply, account_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct account_reply, building_id, T_ID, .flags = F_REQUIRED, .doc = "of the primary building"),
    FIELD(struct account_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct account_reply, key, T_STRING, .flags = F_REQUIRED | F_SECRET, .doc = "key of a website session"),
    FIELD(struct account_reply, key_ends_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape reply_shape = SHAPE(struct account_reply, "SandboxAccountMade", reply_fields);

static enum err primary_of(struct tx *tx, const struct id *account, struct id *ret)
{
    const struct building *buildings;
    size_t count;
    enum err e = building_list(tx, account, &buildings, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (buildings[i].primary)
            *ret = buildings[i].id;
    return e;
}

static enum err reply_account(struct request *q, const struct id *account, struct str email, struct reply *p)
{
    const struct key_options options = session_key(account);
    struct id building = {0};
    struct key_issued key;
    enum err e = primary_of(&q->tx, account, &building);
    if (!e)
        e = key_issue(&q->tx, &options, &key);
    if (e)
        return e;
    struct account_reply *r = arena_new(q->tx.arena, struct account_reply);
    *r = (struct account_reply){
        .account_id = v_str(arena_str(q->tx.arena, id_str(account))),
        .building_id = v_str(arena_str(q->tx.arena, id_str(&building))),
        .email = v_str(email),
        .key = v_str(arena_str(q->tx.arena, str_z(key.text))),
        .key_ends_at = v_time(key.expires_at_us),
    };
    crypto_wipe(&key, sizeof key);
    return reply_ok(p, 200, &reply_shape, r);
}

static enum err sign_browser_in(struct request *q, const struct id *account, struct val timezone, struct reply *p)
{
    const struct key_options key = session_key(account);
    struct browser_issued browser;
    enum err e = sign_in_browser(q, &key, timezone, false, p, &browser);
    if (!e)
        crypto_wipe(&browser, sizeof browser);
    return e;
}

static enum err post_account(struct request *q, struct reply *p)
{
    const struct account_request *body = q->body;
    struct id account;
    enum err e = session_trust(&q->tx, body->email.s, &account);
    if (!e && v_given(body->browser) && body->browser.b)
        e = sign_browser_in(q, &account, body->timezone, p);
    return e ? e : reply_account(q, &account, body->email.s, p);
}

static const struct route rows[] = {
    ROUTE("makeSandboxAccount", POST, "/sandbox/accounts", .credential = CRED_LOOPBACK, .body = &request_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = post_account, .reply = &reply_shape,
          .doc = ROUTE_DOC(
              "Sandbox", 200, "Make a test account, or sign in to one again, without a code",
              .description = "Can be repeated: the account of an e-mail is made once, and each reply has another key.",
              .body_example = "{\"email\": \"resident@example.com\"}", .errors = ROUTE_ERRORS(ERR_LINKED_ACCOUNT))),
};
const struct route_set sandbox_accounts_routes = ROUTE_SET(rows);
