#include "site/routes.h"

#include "api/constant.h"
#include "api/cookie.h"
#include "api/door_site.h"
#include "api/gate.h"
#include "api/service.h"
#include "domain/feed.h"
#include "http/web.h"
#include "site/oauth.h"
#include "site/privacy.h"

#define PAGE_MAX    (1u << 20)
#define DATA_MARK   "<!-- data -->"
#define PRIVACY     "<!-- privacy " /* and the words of its link */
#define PRIVACY_END " -->"
#define PARTS_MAX   12
#define BUILDING    "{building}"
#define QUERY       "{query}"
#define EVERY_PART                                                                                                     \
    {"account", "/v1/account"}, {"places", "/v1/places"},                                                              \
    {                                                                                                                  \
        "buildings", "/v1/buildings"                                                                                   \
    }

struct part {
    const char *name;
    const char *path; /* below /app, with BUILDING in place of the building's ID, and QUERY in place of the page's */
};

struct page {
    const struct http_content *variants; /* of scripts/webgen */
    struct part parts[PARTS_MAX];        /* up to the first without a name */
};

/* The variant of a page that scripts/webgen made for the client's language, and for the sandbox if this is one. */
static const struct http_content *variant_of(const struct request *q, const struct http_content *variants)
{
    const size_t language = http_language(q->http->headers, q->http->header_count, web_languages);
    return &variants[language + (q->tx.config->production ? 0 : WEB_LANGUAGES)];
}

/* ---- without a session ---- */

static enum err reply_public(struct request *q, struct reply *p, const struct http_content *variants)
{
    reply_header(p, "Vary", STR("Accept-Language, Cookie"));
    return reply_constant(q, p, variant_of(q, variants));
}

/* The page with the line of section `privacy` in place of its mark; STR_NONE if there is no such line. */
static struct str with_privacy(struct request *q, struct str page)
{
    const char *mark = memmem(page.p, page.n, PRIVACY, strlen(PRIVACY));
    const struct str words = str_from(page, (size_t)(mark - page.p) + strlen(PRIVACY));
    const char *end = memmem(words.p, words.n, PRIVACY_END, strlen(PRIVACY_END));
    const struct str rest = str_from(words, (size_t)(end - words.p) + strlen(PRIVACY_END));
    const struct str line = privacy_line(q->tx.config, str_n(words.p, (size_t)(end - words.p)), q->tx.arena);
    return line.p
               ? arena_printf(q->tx.arena, "%.*s%.*s%.*s", (int)(mark - page.p), page.p, STR_ARG(line), STR_ARG(rest))
               : STR_NONE;
}

static enum err reply_sign_in(struct request *q, struct reply *p)
{
    const struct str page = with_privacy(q, variant_of(q, web_site_sign_in_html)->body[HTTP_CODING_NONE]);
    if (!page.p)
        return reply_public(q, p, web_site_sign_in_html);
    reply_header(p, "Vary", STR("Accept-Language, Cookie"));
    p->status = 200;
    p->raw = page;
    return ERR_NONE;
}

/* The billing provider also leads browsers here that are not signed in. */
static enum err reply_returned(struct request *q, struct reply *p)
{
    const struct str query = q->http->query;
    const bool returned = query.n && memmem(query.p, query.n, "checkout=", 9);
    return reply_public(q, p, returned ? web_site_returned_html : web_site_sign_in_html);
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

static struct str put_in(struct request *q, const char *path, const char *mark, struct str value)
{
    const char *at = strstr(path, mark);
    return at ? arena_printf(q->tx.arena, "%.*s%.*s%s", (int)(at - path), path, STR_ARG(value), at + strlen(mark))
              : str_z(path);
}

static struct str path_of(struct request *q, const char *path)
{
    return put_in(q, put_in(q, path, BUILDING, id_str(&q->building_id)).p, QUERY, q->http->query);
}

/* Writes the events of calls that are in progress, as the stream tells them. */
static enum err put_calls_now(struct request *q, int64_t newest, struct buf *out)
{
    const struct feed_event *events;
    size_t count;
    enum err e = feed_calls_now(&q->tx, &q->building_id, newest, &events, &count);
    for (size_t i = 0; !e && i < count; i++) {
        buf_str(out, i ? STR(",") : STR(""));
        feed_put(out, &events[i]);
    }
    return e;
}

/* Writes the paths of the pages that this person does not have. */
static void put_closed(const struct request *q, struct buf *out)
{
    const struct route_set *pages = site_sets[0];
    const char *comma = "";
    for (size_t i = 0; i < pages->count; i++) {
        const struct route *row = &pages->rows[i];
        if (!row->signed_out || gate_admits(row, &q->who))
            continue;
        buf_printf(out, "%s\"%s\"", comma, row->path);
        comma = ",";
    }
}

/* Writes {"page": its time, its building, its last event, the pages that are closed to this person and the events of
 * calls in progress, "name": what GET of its path answers, ...}. */
static enum err put_parts(struct request *q, const struct part *parts, struct buf *out)
{
    char now[TIME_TEXT_MAX];
    int64_t seq;
    enum err newest = feed_newest(&q->tx, &q->building_id, &seq);
    if (newest)
        return newest;
    time_format(q->tx.now_us, now);
    buf_printf(out, "{\"page\":{\"at\":\"%s\",\"building\":\"%s\",\"seq\":%lld,\"closed\":[", now, q->building_id.text,
               (long long)seq);
    put_closed(q, out);
    buf_lit(out, "],\"door\":[");
    newest = put_calls_now(q, seq, out);
    if (newest)
        return newest;
    buf_lit(out, "]}");
    for (size_t i = 0; i < PARTS_MAX && parts[i].name; i++) {
        buf_printf(out, ",\"%s\":", parts[i].name);
        enum err e = service_embed(q, path_of(q, parts[i].path), out);
        if (e)
            return e;
    }
    buf_lit(out, "}");
    return out->full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

struct page_query {
    struct val building;
};
static const struct field page_query_fields[] = {
    FIELD(struct page_query, building, T_ID, .error = ERR_INVALID_BUILDING),
};
static const struct shape page_query_shape = SHAPE(struct page_query, "PageQuery", page_query_fields);

/* The building of the query, which must be the account's; else the one that this browser has chosen, if it is; else
 * the key's, or the primary one. */
static enum err choose_building(struct request *q)
{
    const struct page_query *query = q->query;
    struct id wanted;
    if (v_set(query->building) && id_parse(query->building.s, &wanted))
        return site_choose_building(q, &wanted);
    enum err e = ERR_BUILDING_NOT_FOUND;
    if (cookie_building(q->http, &wanted))
        e = site_choose_building(q, &wanted);
    if (e == ERR_BUILDING_NOT_FOUND)
        e = site_choose_building(q, id_given(&q->who.building_id) ? &q->who.building_id : &q->who.primary_id);
    return e;
}

static enum err get_page(struct request *q, struct reply *p)
{
    const struct page *page = q->route->handler_data;
    enum err e = choose_building(q);
    if (e)
        return e;
    struct buf data = BUF(PAGE_MAX);
    e = put_parts(q, page->parts, &data);
    if (!e) {
        p->status = 200;
        p->raw = with_data(q, page->variants, buf_view(&data));
    }
    buf_done(&data);
    return e || p->raw.p ? e : ERR_INTERNAL_ERROR;
}

/* The parts read much, such as all grants of a door. */
static bool page_lengthy(const void *query)
{
    (void)query;
    return true;
}

/* ---- assets ---- */

/* Another version's name gets this version's asset, which no cache may keep by that name. Production has no pages of
 * the sandbox. */
static enum err get_asset(struct request *q, struct reply *p)
{
    bool exact;
    const struct http_asset *asset = http_asset_find(q->path_text, &exact);
    if (!asset || (q->tx.config->production && str_starts(asset->name, STR("sandbox-"))))
        return ERR_NOT_FOUND;
    p->media = asset->media;
    p->immutable = exact;
    return reply_constant(q, p, &asset->content);
}

/* The worker's address names its scope, the whole website, and never changes; browsers compare the script at each
 * visit. */
static enum err get_worker(struct request *q, struct reply *p)
{
    bool exact;
    const struct http_asset *asset = http_asset_find(STR("site-worker-en.any.js"), &exact);
    if (!asset)
        return ERR_NOT_FOUND;
    p->media = asset->media;
    return reply_constant(q, p, &asset->content);
}

static enum err get_picture(struct request *q, struct reply *p)
{
    return reply_constant(q, p, q->route->handler_data);
}

static const char manifest[] =
    "{\"name\":\"Portero\",\"short_name\":\"Portero\",\"id\":\"/\",\"start_url\":\"/\",\"scope\":\"/\","
    "\"display\":\"standalone\",\"background_color\":\"#f6f4ef\",\"theme_color\":\"#f6f4ef\","
    "\"icons\":[{\"src\":\"/icon.svg\",\"sizes\":\"any\",\"type\":\"image/svg+xml\"},"
    "{\"src\":\"/icon-192.png\",\"sizes\":\"192x192\",\"type\":\"image/png\"},"
    "{\"src\":\"/icon-512.png\",\"sizes\":\"512x512\",\"type\":\"image/png\"},"
    "{\"src\":\"/icon-maskable.png\",\"sizes\":\"512x512\",\"type\":\"image/png\",\"purpose\":\"maskable\"}]}";

/* The door of the pages' sprite. */
static const char app_icon[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 48 48\"><rect width=\"48\" height=\"48\" rx=\"11\" "
    "fill=\"#1b2a33\"/>"
    "<path fill=\"none\" stroke=\"#f6f4ef\" stroke-width=\"3\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "
    "d=\"M15 37V13a2.500 2.500 0 0 1 2.500-2.500h13a2.500 2.500 0 0 1 2.500 2.500v24M11 37h26M27.500 24h.01\"/></svg>";

/* A page for residents, with the members who have it: web/site/NAME.html within the frame, and the parts of its data
 * besides EVERY_PART. */
#define PAGE(id, name, at, text, who, otherwise, ...)                                                                  \
    ROUTE(id, GET, at, .credential = CRED_KEY, .people = (who), .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY,     \
          .query = &page_query_shape, .run = RUN_READ, .lengthy = page_lengthy, .handler = get_page,                   \
          .handler_data = &(const struct page){web_site_##name##_html, {EVERY_PART, ##__VA_ARGS__}},                   \
          .signed_out = (otherwise), .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE,                         \
          .store_error = ERR_FETCH_FAILED, .doc = ROUTE_DOC("Pages", 200, text))

#define PICTURE(id, at, text, content)                                                                                 \
    ROUTE(id, GET, at, .credential = CRED_NONE, .run = RUN_HERE, .handler = get_picture, .handler_data = &(content),   \
          .media = "image/png", .flags = ROUTE_PAGE, .doc = ROUTE_DOC("Pages", 200, text))

static const struct route rows[] = {
    PAGE("getHome", home, "/", "What opens the door now; without a session: signing in", PEOPLE_ALL, reply_sign_in,
         {"setup", "/v1/buildings/" BUILDING "/setup"}, {"settings", "/v1/buildings/" BUILDING "/settings"},
         {"decision", "/v1/buildings/" BUILDING "/decision"}, {"grants", "/v1/unlock?status=active&limit=100"},
         {"visits", "/v1/visits?limit=4"}, {"phone", "/v1/account/phone"}),
    PAGE("getAccessPage", access, "/access", "Who may enter", PEOPLE_ALL, reply_sign_in,
         {"setup", "/v1/buildings/" BUILDING "/setup"}, {"settings", "/v1/buildings/" BUILDING "/settings"},
         {"grants", "/v1/unlock?limit=50"}),
    PAGE("getActivityPage", activity, "/activity", "Who came", PEOPLE_ALL, reply_sign_in,
         {"visits", "/v1/visits?limit=50"}, {"grants", "/v1/unlock?limit=100"}),
    PAGE("getBuildingPage", building, "/building", "The door and its phones", PEOPLE_NONE, reply_sign_in,
         {"settings", "/v1/buildings/" BUILDING "/settings"}, {"visits", "/v1/visits?outcome=opened&limit=1"},
         {"phone", "/v1/account/phone"}, {"people", "/v1/buildings/" BUILDING "/people"},
         {"recordings", "/v1/buildings/" BUILDING "/recordings"}),
    PAGE("getBuildingsPage", buildings, "/buildings", "The account's buildings", PEOPLE_NONE, reply_sign_in),
    PAGE("getNoticesPage", notices, "/notices", "Notices of events at the door", PEOPLE_ALL, reply_sign_in,
         {"notices", "/v1/buildings/" BUILDING "/notices"}, {"quiet", "/v1/person/quiet_hours"}),
    PAGE("getBillingPage", billing, "/billing", "The subscription", PEOPLE_NONE, reply_sign_in,
         {"plans", "/v1/billing/plans"}, {"checkout", "/v1/billing/checkout"}),
    PAGE("getAgentsPage", agents, "/agents", "Keys for programs", PEOPLE_NONE, reply_sign_in,
         {"keys", "/v1/auth/keys"}),
    PAGE("getWebhooksPage", webhooks, "/webhooks", "Addresses that are told of events", PEOPLE_NONE, reply_sign_in,
         {"webhooks", "/v1/webhooks"}),
    PAGE("getAccountPage", account, "/account", "The account; the billing provider returns here", PEOPLE_ALL,
         reply_returned, {"phone", "/v1/person/phone"}, {"browsers", "/v1/browsers"}),
    PAGE("getConsentPage", consent, OAUTH_AUTHORIZE, "An assistant asks for access", PEOPLE_NONE, reply_sign_in,
         {"request", "/v1/oauth/request?" QUERY}),
    ROUTE("getWorker", GET, "/worker.js", .credential = CRED_NONE, .run = RUN_HERE, .handler = get_worker,
          .flags = ROUTE_PAGE, .doc = ROUTE_DOC("Pages", 200, "The service worker")),
    ROUTE("getManifest", GET, "/manifest.webmanifest", .credential = CRED_NONE, .run = RUN_HERE, .text = manifest,
          .media = "application/manifest+json", .flags = ROUTE_PAGE,
          .doc = ROUTE_DOC("Pages", 200, "The website as an application")),
    ROUTE("getIcon", GET, "/icon.svg", .credential = CRED_NONE, .run = RUN_HERE, .text = app_icon,
          .media = "image/svg+xml", .flags = ROUTE_PAGE, .doc = ROUTE_DOC("Pages", 200, "Its icon")),
    PICTURE("getIcon192", "/icon-192.png", "Its icon, of 192 pixels", web_site_icons_icon_192_png),
    PICTURE("getIcon512", "/icon-512.png", "Its icon, of 512 pixels", web_site_icons_icon_512_png),
    PICTURE("getIconMaskable", "/icon-maskable.png", "Its icon, to be cut to any shape",
            web_site_icons_maskable_512_png),
    PICTURE("getBadge", "/badge.png", "The sign of its notices", web_site_icons_badge_png),
    ROUTE("getAsset", GET, "/a/{text}", .credential = CRED_NONE, .run = RUN_HERE, .handler = get_asset,
          .flags = ROUTE_PAGE, .doc = ROUTE_DOC("Pages", 200, "A script or style sheet of the pages")),
};
static const struct route_set pages = ROUTE_SET(rows);

const struct route_set *const site_sets[] = {&pages, &guest_routes, &oauth_routes, &docs_routes};
const size_t site_set_count = sizeof site_sets / sizeof *site_sets;
