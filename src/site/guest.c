#include "site/guest.h"

#include "api/constant.h"
#include "api/parts.h"
#include "http/web.h"
#include "site/guest_calendar.h"
#include "site/privacy.h"
#include "site/routes.h"

#define PAGE_MAX  (64u << 10)
#define FACT_MAX  200
#define LIST_MAX  8192 /* of windows */
#define MARK_OPEN STR("<!-- ")
#define MARK_END  STR(" -->")
#define NOON      (12 * 60)

struct fact {
    struct str text; /* STR_NONE: there is none */
    bool markup;     /* of the template, so escaped already */
};

enum guest_fact {
    BUILDING,
    ADDRESS,
    CALL_BOX,
    CODE,
    FROM,
    UNTIL,
    DAYS,
    START,
    END,
    WINDOWS,
    CITY,
    NEXT,
    TOKEN,
    PRIVACY,
    FACTS
};
static const char *const fact_names[] = {"building", "address", "call_box", "code", "from",  "until",   "days", "start",
                                         "end",      "windows", "city",     "next", "token", "privacy", NULL};

struct guest_page {
    struct tx *tx;
    const struct guest_view *view;
    struct str template;
    const char *language;
    struct str zone; /* of the times */
    struct fact facts[FACTS];
};

/* ---- texts of the template ---- */

/* The part between `before` and `after`; STR_NONE if there is none. *rest is the part behind it. */
static struct str guest_between(struct str s, struct str before, struct str after, struct str *rest)
{
    const char *from = memmem(s.p, s.n, before.p, before.n);
    if (!from)
        return STR_NONE;
    struct str inner = str_from(s, (size_t)(from - s.p) + before.n);
    const char *to = memmem(inner.p, inner.n, after.p, after.n);
    if (!to)
        return STR_NONE;
    *rest = str_from(inner, (size_t)(to - inner.p) + after.n);
    return str_n(inner.p, (size_t)(to - inner.p));
}

/* The text that the template gives the name. */
static struct str guest_let(const struct guest_page *g, const char *name)
{
    struct str rest = g->template, mark;
    const struct str wanted = arena_printf(g->tx->arena, "let %s ", name);
    while ((mark = guest_between(rest, MARK_OPEN, MARK_END, &rest)).p)
        if (str_starts(mark, wanted))
            return str_from(mark, wanted.n);
    return STR("");
}

/* The item of a list "a|b|c". */
static struct str guest_item(struct str list, int i)
{
    struct str item = STR_NONE;
    for (struct str rest = list; i >= 0 && rest.p; i--)
        item = str_cut(rest, '|', &rest);
    return item;
}

/* ---- facts ---- */

static struct str guest_clock(const struct guest_page *g, int minute)
{
    char text[SCHEDULE_MINUTE_TEXT_MAX];
    if (str_eq(guest_let(g, "clock"), STR("12")))
        return arena_printf(g->tx->arena, "%d:%02d %s", (minute / 60 + 11) % 12 + 1, minute % 60,
                            minute < NOON ? "am" : "pm");
    schedule_minute_format(minute, text);
    return arena_str(g->tx->arena, str_z(text));
}

static void put_date_part(const struct guest_page *g, const struct schedule_time *t, struct str name, struct buf *out)
{
    if (str_eq(name, STR("weekday")))
        buf_str(out, guest_item(guest_let(g, "days"), t->weekday));
    else if (str_eq(name, STR("day")))
        buf_i64(out, t->day);
    else if (str_eq(name, STR("month")))
        buf_str(out, guest_item(guest_let(g, "months"), t->month - 1));
    else if (str_eq(name, STR("time")))
        buf_str(out, guest_clock(g, t->minute));
}

static struct str guest_date(const struct guest_page *g, int64_t at_us)
{
    struct schedule_time t;
    struct buf b = BUF(FACT_MAX);
    if (!schedule_local(g->zone, at_us, &t))
        return STR("");
    for (struct str rest = guest_let(g, "date"); rest.p;) {
        buf_str(&b, str_cut(rest, '{', &rest));
        if (rest.p)
            put_date_part(g, &t, str_cut(rest, '}', &rest), &b);
    }
    const struct str date = arena_str(g->tx->arena, buf_view(&b));
    buf_done(&b);
    return date;
}

static struct str guest_days(const struct guest_page *g, unsigned days)
{
    if (days == SCHEDULE_EVERY_DAY)
        return guest_let(g, "daily");
    if (days == SCHEDULE_WEEKDAYS)
        return guest_let(g, "weekdays");
    if (days == SCHEDULE_WEEKEND)
        return guest_let(g, "weekend");
    struct buf b = BUF(FACT_MAX);
    for (int day = 0; schedule_day_names[day]; day++)
        if (days >> day & 1) {
            buf_str(&b, b.n ? STR(", ") : STR(""));
            buf_str(&b, guest_item(guest_let(g, "each"), day));
        }
    const struct str list = arena_str(g->tx->arena, buf_view(&b));
    buf_done(&b);
    return list;
}

/* "Europe/New_York" as "New York". */
static struct str guest_city(struct tx *tx, struct str zone)
{
    const char *slash = memrchr(zone.p, '/', zone.n);
    struct str city = arena_str(tx->arena, slash ? str_from(zone, (size_t)(slash - zone.p) + 1) : zone);
    for (char *p = (char *)(uintptr_t)city.p; p < city.p + city.n; p++)
        *p = (char)(*p == '_' ? ' ' : *p);
    return city;
}

static void set_fact(struct guest_page *g, enum guest_fact fact, struct str text, bool markup)
{
    g->facts[fact].text = text;
    g->facts[fact].markup = markup;
}

/* Writes a fact for "NAME}…" and returns the part behind it; without such a fact, writes the brace. */
static struct str put_fact(const struct guest_page *g, struct str s, struct buf *out)
{
    struct str rest;
    const int i = str_index(str_cut(s, '}', &rest), fact_names);
    if (i >= 0 && rest.p) {
        if (g->facts[i].markup)
            buf_str(out, g->facts[i].text);
        else
            buf_html(out, g->facts[i].text);
        return rest;
    }
    buf_char(out, '{');
    return s;
}

static void put_text(const struct guest_page *g, struct str text, struct buf *out)
{
    for (struct str rest = text; rest.p;) {
        buf_str(out, str_cut(rest, '{', &rest));
        if (rest.p)
            rest = put_fact(g, rest, out);
    }
}

/* A piece of the template for each window. */
static struct str guest_windows(struct guest_page *g)
{
    const struct schedule *s = &g->view->grant.schedule;
    struct buf b = BUF(LIST_MAX);
    for (const struct window *w = s->windows; w < s->windows + s->count; w++) {
        set_fact(g, DAYS, guest_days(g, w->days), true);
        set_fact(g, START, guest_clock(g, w->start_minute), true);
        set_fact(g, END, guest_clock(g, w->end_minute), true);
        put_text(g, guest_let(g, "window"), &b);
    }
    const struct str list = arena_str(g->tx->arena, buf_view(&b));
    buf_done(&b);
    return list;
}

static void find_facts(struct guest_page *g)
{
    const struct guest_view *v = g->view;
    const struct str own = v->grant.schedule.timezone;
    g->zone = own.p ? own : v->timezone.p ? v->timezone : STR("UTC");
    set_fact(g, BUILDING, v->building, false);
    if (v->city.p)
        set_fact(g, ADDRESS,
                 v->street.p ? arena_printf(g->tx->arena, "%.*s, %.*s", STR_ARG(v->street), STR_ARG(v->city)) : v->city,
                 false);
    set_fact(g, CALL_BOX, v->call_box_name, false);
    set_fact(g, CITY, guest_city(g->tx, g->zone), false);
    if (v->grant.type == GRANT_PASSCODE)
        set_fact(g, CODE, str_z(v->grant.code), false);
    if (v->grant.ends_us != GRANT_NO_END)
        set_fact(g, UNTIL, guest_date(g, v->grant.ends_us), true);
    if (v->grant.starts_us > g->tx->now_us)
        set_fact(g, FROM, guest_date(g, v->grant.starts_us), true);
    set_fact(g, WINDOWS, guest_windows(g), true);
    set_fact(g, TOKEN, v->token, false);
    set_fact(g, PRIVACY, privacy_line(g->tx->config, guest_let(g, "privacy"), g->tx->arena), true);
    int64_t next_us;
    if (v->grant.schedule.count && grant_opens_next(&v->grant, g->tx->now_us, &next_us) && next_us > g->tx->now_us)
        set_fact(g, NEXT, guest_date(g, next_us), true);
}

/* ---- the page ---- */

static bool word_holds(const struct guest_page *g, struct str word)
{
    const struct guest_view *v = g->view;
    const struct {
        const char *name;
        bool holds;
    } words[] = {
        {"on", v->works},
        {"off", !v->works},
        {"address", g->facts[ADDRESS].text.p != NULL},
        {"named", v->call_box_name.p != NULL},
        {"nameless", v->call_box_name.p == NULL},
        {"code", v->grant.type == GRANT_PASSCODE},
        {"voice", v->grant.voice},
        {"timer", v->grant.type == GRANT_TIMER},
        {"routine", v->grant.type == GRANT_ROUTINE},
        {"open", v->grant.type != GRANT_PASSCODE},
        {"begins", g->facts[FROM].text.p != NULL && !g->facts[UNTIL].text.p},
        {"from", g->facts[FROM].text.p != NULL && g->facts[UNTIL].text.p},
        {"until", g->facts[UNTIL].text.p != NULL && !g->facts[FROM].text.p},
        {"next", g->facts[NEXT].text.p != NULL},
        {"calendar", guest_calendar_fits(v)},
        {"privacy", g->facts[PRIVACY].text.p != NULL},
        {"times", g->facts[FROM].text.p != NULL || g->facts[UNTIL].text.p || v->grant.schedule.count},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, str_z(words[i].name)))
            return words[i].holds;
    return str_eq(word, str_z(g->language));
}

/* The words of `if` around a part that is left out, including the one that does not hold; 0: it is kept. */
static int after_mark(const struct guest_page *g, struct str mark, int hidden)
{
    if (str_starts(mark, STR("if ")))
        return hidden || !word_holds(g, str_from(mark, 3)) ? hidden + 1 : 0;
    return str_eq(mark, STR("end")) && hidden ? hidden - 1 : hidden;
}

void guest_put(struct tx *tx, const struct guest_view *v, struct str page, size_t language, struct buf *out)
{
    struct guest_page g = {.tx = tx, .view = v, .template = page, .language = web_languages[language]};
    struct str rest = page, mark, behind;
    int hidden = 0;
    find_facts(&g);
    while ((mark = guest_between(rest, MARK_OPEN, MARK_END, &behind)).p) {
        if (!hidden)
            put_text(&g, str_n(rest.p, (size_t)(mark.p - rest.p) - MARK_OPEN.n), out);
        hidden = after_mark(&g, mark, hidden);
        rest = behind;
    }
    put_text(&g, rest, out);
}

/* ---- the route ---- */

/* The language of "?lang=", else the browser's. Messengers add parameters to links, so others are ignored. */
static size_t guest_language(const struct request *q)
{
    for (struct str rest = q->http->query; rest.p;) {
        const struct str part = str_cut(rest, '&', &rest);
        const int chosen = str_starts(part, STR("lang=")) ? str_index(str_from(part, 5), web_languages) : -1;
        if (chosen >= 0)
            return (size_t)chosen;
    }
    return http_language(q->http->headers, q->http->header_count, web_languages);
}

static enum err get_guest(struct request *q, struct reply *p)
{
    struct guest_view view;
    const size_t language = guest_language(q);
    const struct http_content *page = &web_site_guest_html[language + (q->tx.config->production ? 0 : WEB_LANGUAGES)];
    enum err e = guest_link_open(&q->tx, q->path_text, &view);
    if (e)
        return e;
    view.grant.voice = view.grant.voice && parts_hear(q->parts, q->tx.config);
    struct buf b = BUF(PAGE_MAX);
    guest_put(&q->tx, &view, page->body[HTTP_CODING_NONE], language, &b);
    if (!b.full) {
        p->status = 200;
        p->raw = arena_str(q->tx.arena, buf_view(&b));
        reply_header(p, "Vary", STR("Accept-Language"));
    }
    buf_done(&b);
    return p->raw.p ? ERR_NONE : ERR_INTERNAL_ERROR;
}

static enum err get_calendar(struct request *q, struct reply *p)
{
    struct guest_view view;
    enum err e = guest_link_open(&q->tx, q->path_text, &view);
    if (e)
        return e;
    if (!view.works || !guest_calendar_fits(&view))
        return ERR_NOT_FOUND;
    struct buf b = BUF(PAGE_MAX);
    guest_calendar_put(&q->tx, &view, &b);
    p->status = 200;
    p->raw = b.full ? STR_NONE : arena_str(q->tx.arena, buf_view(&b));
    reply_header(p, "Content-Disposition", STR("attachment; filename=\"door.ics\""));
    buf_done(&b);
    return p->raw.p ? ERR_NONE : ERR_INTERNAL_ERROR;
}

static const struct route rows[] = {
    ROUTE("getGuestCalendar", GET, GUEST_PATH "{text}/calendar.ics", .credential = CRED_NONE, .limit = LIMIT_GUEST,
          .run = RUN_READ, .handler = get_calendar, .media = "text/calendar; charset=utf-8",
          .flags = ROUTE_PAGE | ROUTE_SECRET_PATH, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Pages", 200, "When a guest gets in, as a calendar file",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_RATE_LIMIT_EXCEEDED))),
    ROUTE("getGuestPage", GET, GUEST_PATH "{text}", .credential = CRED_NONE, .limit = LIMIT_GUEST, .run = RUN_READ,
          .handler = get_guest, .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE | ROUTE_SECRET_PATH,
          .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Pages", 200, "How a guest gets in, by the link of a grant",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_RATE_LIMIT_EXCEEDED))),
};
const struct route_set guest_routes = ROUTE_SET(rows);
