#include "api/door_site.h"

#include "api/cookie.h"
#include "api/gate.h"
#include "base/container_of.h"
#include "domain/browser.h"

/* The state of a request by this door. */
struct site_entry {
    struct id building;          /* in place of the header, if that was not sent; or empty */
    const unsigned char *lapsed; /* hash of a cookie whose expired key can be renewed, or NULL */
    bool tried, renewed;         /* renewed: send the cookie again, so that the browser keeps it */
};

void site_enter(struct request *q)
{
    if (q->door == &door_site)
        return;
    q->door = &door_site;
    q->entry = arena_new(q->tx.arena, struct site_entry);
}

static bool site_opens(const struct route *route)
{
    return route->flags & (ROUTE_SITE | ROUTE_SITE_ONLY);
}

/* ---- the sender ---- */

static bool is_own_origin(struct str origin, struct str authority)
{
    return str_starts(origin, STR("https://")) && authority.n && str_eqi(str_from(origin, 8), authority);
}

enum err site_check(const struct request *q)
{
    const struct http_request *r = q->http;
    size_t sites, origins;
    struct str site = http_header(r, STR("Sec-Fetch-Site"), &sites);
    struct str origin = http_header(r, STR("Origin"), &origins);
    if (sites)
        return sites == 1 && str_eq(site, STR("same-origin")) ? ERR_NONE : ERR_CROSS_SITE_REQUEST;
    if (!origins && (r->method == HTTP_GET || r->method == HTTP_HEAD))
        return ERR_NONE;
    const bool own = origins == 1 && is_own_origin(origin, http_header(r, STR("Host"), NULL));
    return own ? ERR_NONE : ERR_CROSS_SITE_REQUEST;
}

/* ---- the cookie ---- */

static enum err read_cookie(struct request *q, unsigned char ret_hash[static SHA256_LEN])
{
    struct str cookie;
    if (!cookie_of(q->http, &cookie))
        return tx_fail(&q->tx, ERR_AUTH_REQUIRED, "This browser is not signed in.");
    browser_hash(cookie, ret_hash);
    return ERR_NONE;
}

/* Finds out whether the key only belongs to a browser that can have another one. */
static enum err refuse_browser(struct request *q)
{
    struct site_entry *s = q->entry;
    unsigned char *hash = arena_alloc(q->tx.arena, SHA256_LEN);
    bool lapsed;
    enum err e = read_cookie(q, hash);
    if (!e)
        e = browser_lapsed(&q->tx, hash, &lapsed);
    if (e)
        return e;
    s->lapsed = lapsed ? hash : NULL;
    return tx_fail(&q->tx, ERR_INVALID_KEY, "This browser's session has ended.");
}

/* ---- renewal of a remembered browser's key, between two runs of a request ---- */

static enum err renewal_run(struct store_task *task, struct db *db)
{
    struct request *q = container_of(task, struct request, task);
    struct site_entry *s = q->entry;
    q->tx.db = db;
    q->tx.why = STR_NONE;
    enum err e = browser_renew(&q->tx, s->lapsed);
    s->renewed = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e; /* another request may have renewed it; the next run will tell */
}

static void renewal_done(struct store_task *task, enum err result)
{
    struct request *q = container_of(task, struct request, task);
    q->result = result;
    http_post(q->http, &q->http->mail);
}

/* At most once: a write of its own. q->result is then an error, or the request runs again from its checks, with
 * whatever key the browser has by then. */
static bool renew(struct request *q, void (*posted)(struct mail *mail))
{
    struct site_entry *s = q->entry;
    if (q->result != ERR_INVALID_KEY || !s->lapsed || s->tried)
        return false;
    s->tried = true;
    q->http->mail.run = posted;
    q->task = (struct store_task){.mode = STORE_WRITE, .run = renewal_run, .done = renewal_done};
    store_submit(q->work.store, &q->task);
    return true;
}

/* The browser keeps its cookie for longer then, unless the handler has set or cleared it. */
static void put_renewed_cookie(struct request *q, struct buf *head)
{
    const struct site_entry *s = q->entry;
    struct str cookie;
    if (s->renewed && !reply_header_value(&q->reply, "Set-Cookie").p && cookie_of(q->http, &cookie))
        buf_printf(head, "Set-Cookie: %.*s\r\n", STR_ARG(cookie_set(q->tx.arena, cookie, true)));
}

/* ---- values ---- */

enum err site_choose_building(struct request *q, const struct id *wanted)
{
    struct site_entry *s = q->entry;
    enum err e = gate_select_building(q, wanted);
    if (!e)
        s->building = *wanted;
    return e;
}

static enum err site_value(struct request *q, enum door_value which, struct str *ret, size_t *ret_count)
{
    const struct site_entry *s = q->entry;
    enum err e = door_header(q, which, ret, ret_count);
    if (e || *ret_count || which != DOOR_BUILDING || !id_given(&s->building))
        return e;
    *ret = id_str(&s->building);
    *ret_count = 1;
    return ERR_NONE;
}

const struct door door_site = {.prefix = SITE_PREFIX,
                               .via = "",
                               .sign_in = "Sign in.",
                               .opens = site_opens,
                               .key_hash = read_cookie,
                               .refused = refuse_browser,
                               .again = renew,
                               .value = site_value,
                               .query = door_query,
                               .body = door_body,
                               .put_head = put_renewed_cookie};
