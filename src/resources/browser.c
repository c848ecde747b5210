#include "resources/routes.h"

#include "api/cookie.h"
#include "domain/browser.h"
#include "domain/place.h"

#define TAG "Browsers"

/* ---- bodies ---- */

struct browser_item {
    struct val id, browser, system, signed_in_at, last_used_at, remembered, current;
};
static const struct field browser_item_fields[] = {
    FIELD(struct browser_item, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct browser_item, browser, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "such as Firefox"),
    FIELD(struct browser_item, system, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "such as Android"),
    FIELD(struct browser_item, signed_in_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct browser_item, last_used_at, T_TIME, .flags = F_REQUIRED, .doc = "to the minute, with some delay"),
    FIELD(struct browser_item, remembered, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct browser_item, current, T_BOOL, .flags = F_REQUIRED, .doc = "true for the calling browser"),
};
static const struct shape browser_item_shape = SHAPE(struct browser_item, "Browser", browser_item_fields);

struct browser_page {
    struct val data;
};
static const struct field browser_page_fields[] = {
    FIELD(struct browser_page, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &browser_item_shape, .doc = "newest first"),
};
static const struct shape browser_page_shape = SHAPE(struct browser_page, "BrowserList", browser_page_fields);

struct signed_out {
    struct val signed_out;
};
static const struct field signed_out_fields[] = {
    FIELD(struct signed_out, signed_out, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape signed_out_shape = SHAPE(struct signed_out, "SignedOut", signed_out_fields);

/* ---- handlers ---- */

static struct browser_item browser_item(const struct request *q, const struct browser_entry *b)
{
    return (struct browser_item){
        .id = v_str(id_str(&b->id)),
        .browser = v_str(b->program),
        .system = v_str(b->system),
        .signed_in_at = v_time(b->created_at_us),
        .last_used_at = v_time(b->last_used_us),
        .remembered = v_bool(b->remembered),
        .current = v_bool(id_equal(&b->key_id, &q->who.key_id)),
    };
}

static enum err get_browsers(struct request *q, struct reply *p)
{
    const struct browser_entry *browsers;
    size_t count;
    enum err e = browser_list(&q->tx, &q->who.account_id, &q->who.member_id, &browsers, &count);
    if (e)
        return e;
    struct browser_item *items = arena_array(q->tx.arena, struct browser_item, count);
    for (size_t i = 0; i < count; i++)
        items[i] = browser_item(q, &browsers[i]);
    return reply_copy(q, p, 200, &browser_page_shape, &(struct browser_page){.data = v_list(items, count)});
}

static enum err reply_signed_out(struct request *q, struct reply *p)
{
    return reply_copy(q, p, 200, &signed_out_shape, &(struct signed_out){.signed_out = v_bool(true)});
}

static enum err delete_browser(struct request *q, struct reply *p)
{
    enum err e = browser_end(&q->tx, &q->who.account_id, &q->who.member_id, &q->path_id);
    return e ? e : reply_signed_out(q, p);
}

static enum err delete_browsers(struct request *q, struct reply *p)
{
    enum err e = place_end_sessions(&q->tx, &q->who);
    if (e)
        return e;
    reply_header(p, "Set-Cookie", cookie_clear());
    return reply_signed_out(q, p);
}

static const struct route rows[] = {
    ROUTE("listBrowsers", GET, "/v1/browsers", .credential = CRED_WEB_SESSION, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .run = RUN_READ, .handler = get_browsers,
          .reply = &browser_page_shape, .flags = ROUTE_SITE_ONLY, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "List the browsers that are signed in",
                           .description =
                               "Newest first. `browser` and `system` are what the browser said of itself at sign-in.",
                           .flags = DOC_EXTENSION)),
    ROUTE("signOutBrowser", DELETE, "/v1/browsers/{id}", .credential = CRED_WEB_SESSION, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .run = RUN_WRITE, .handler = delete_browser,
          .reply = &signed_out_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Sign out one browser",
                           .description =
                               "Ends its session at once. `DELETE /app/v1/auth/key` signs out the calling browser.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("signOutEverywhere", DELETE, "/v1/browsers", .credential = CRED_WEB_SESSION, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .run = RUN_WRITE, .handler = delete_browsers,
          .reply = &signed_out_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Sign out all browsers",
              .description =
                  "Ends all website sessions of the person, at all their places, including the calling one. Agent keys "
                  "stay valid.",
              .flags = DOC_EXTENSION)),
};
const struct route_set browser_routes = ROUTE_SET(rows);
