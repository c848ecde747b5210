#include "site/routes.h"

#include "api/constant.h"
#include "api/service.h"
#include "http/web.h"

#define PAGE_MAX  (1u << 20)
#define DATA_MARK "<!-- data -->"

/* The variant of a page that scripts/webgen made for the client's language, and for the sandbox if this is one. */
static const struct http_content *variant_of(const struct request *q, const struct http_content *variants)
{
    const size_t language = http_language(q->http->headers, q->http->header_count, web_languages);
    return &variants[language + (q->tx.config->production ? 0 : WEB_LANGUAGES)];
}

/* ---- signing in ---- */

static enum err reply_sign_in(struct request *q, struct reply *p)
{
    reply_header(p, "Vary", STR("Accept-Language, Cookie"));
    return reply_constant(q, p, variant_of(q, web_site_sign_in_html));
}

/* ---- pages with data ---- */

/* "<" would let a text of the data end the element. */
static void put_data(struct buf *page, struct str json)
{
    for (struct str rest = json; rest.p;) {
        buf_str(page, str_cut(rest, '<', &rest));
        if (rest.p)
            buf_lit(page, "\\u003c");
    }
}

static struct str with_data(struct request *q, const struct http_content *variants, struct str json)
{
    const struct str page = variant_of(q, variants)->body[HTTP_CODING_NONE];
    const char *mark = memmem(page.p, page.n, DATA_MARK, strlen(DATA_MARK));
    struct buf b = BUF(PAGE_MAX);
    buf_put(&b, page.p, (size_t)(mark - page.p));
    put_data(&b, json);
    buf_str(&b, str_from(page, (size_t)(mark - page.p) + strlen(DATA_MARK)));
    const struct str all = b.full ? STR_NONE : arena_str(q->tx.arena, buf_view(&b));
    buf_done(&b);
    return all;
}

struct part {
    const char *name;
    struct str path; /* below /app */
};

/* Writes {"name": what GET of its path answers, ...}. */
static enum err put_parts(struct request *q, const struct part *parts, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s\"%s\":", i ? "," : "{", parts[i].name);
        enum err e = service_embed(q, parts[i].path, out);
        if (e)
            return e;
    }
    buf_lit(out, "}");
    return out->full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

static enum err reply_parts(struct request *q, struct reply *p, const struct http_content *variants,
                            const struct part *parts, size_t count)
{
    struct buf data = BUF(PAGE_MAX);
    enum err e = put_parts(q, parts, count, &data);
    if (!e) {
        p->status = 200;
        p->raw = with_data(q, variants, buf_view(&data));
    }
    buf_done(&data);
    return e || p->raw.p ? e : ERR_INTERNAL_ERROR;
}

/* The decision reads all grants of a door. */
static bool home_lengthy(const void *query)
{
    (void)query;
    return true;
}

static enum err get_home(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    q->building_id = id_given(&q->who.building_id) ? q->who.building_id : q->who.primary_id;
    const char *id = q->building_id.text;
    const struct part parts[] = {
        {"account", STR("/v1/account")},
        {"setup", arena_printf(a, "/v1/buildings/%s/setup", id)},
        {"decision", arena_printf(a, "/v1/buildings/%s/decision", id)},
    };
    return reply_parts(q, p, web_site_home_html, parts, sizeof parts / sizeof *parts);
}

/* ---- assets ---- */

/* Another version's name gets this version's asset, which no cache may keep by that name. */
static enum err get_asset(struct request *q, struct reply *p)
{
    bool exact;
    const struct http_asset *asset = http_asset_find(q->path_text, &exact);
    if (!asset)
        return ERR_NOT_FOUND;
    p->media = asset->media;
    p->immutable = exact;
    return reply_constant(q, p, &asset->content);
}

static const struct route rows[] = {
    {.operation_id = "getHome",
     .summary = "What opens the door now; without a session: signing in",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/",
     .credential = CRED_KEY,
     .scopes = SCOPE(ACCOUNT_READ),
     .limit = LIMIT_KEY,
     .run = RUN_READ,
     .lengthy = home_lengthy,
     .handler = get_home,
     .signed_out = reply_sign_in,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE,
     .store_error = ERR_FETCH_FAILED},
    {.operation_id = "getAccountPage",
     .summary = "The page to which the billing provider returns",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .content = web_site_account_html,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getAsset",
     .summary = "A script or style sheet of the pages",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/a/{text}",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_asset,
     .status = 200,
     .flags = ROUTE_PAGE},
};
static const struct route_set pages = ROUTE_SET(rows);

const struct route_set *const site_sets[] = {&pages};
const size_t site_set_count = sizeof site_sets / sizeof *site_sets;
