#include "sandbox/hosted.h"

#include <ctype.h>

#include "api/parts.h"
#include "domain/work.h"
#include "http/web.h"
#include "jobs/billing.h"
#include "jobs/queue.h"
#include "providers/fault.h"

/* ---- HTML ---- */

void hosted_begin(struct buf *page, const char *title, const char *subtitle)
{
    buf_lit(page, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    buf_html(page, str_z(title));
    buf_lit(page,
            "</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"" WEB_SITE_STYLE_CSS "\">\n"
            "</head>\n<body class=\"narrow\">\n<header>\n<h1>");
    buf_html(page, str_z(title));
    buf_lit(page, "</h1>\n<p class=\"quiet\">");
    buf_html(page, str_z(subtitle));
    buf_lit(page, "</p>\n</header>\n<main>\n");
}

void hosted_end(struct buf *page)
{
    buf_lit(page, "</main>\n<footer>The sandbox’s billing provider. No money moves here.</footer>\n</body>\n</html>\n");
}

void hosted_fact(struct buf *page, const char *name, struct str text)
{
    buf_lit(page, "<dt>");
    buf_html(page, str_z(name));
    buf_lit(page, "</dt><dd>");
    buf_html(page, text);
    buf_lit(page, "</dd>\n");
}

/* Minor units are hundredths, except in the few currencies without any (ISO 4217). */
static bool has_cents(const char *currency)
{
    static const char *const without[] = {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "pyg",
                                          "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(currency, without[i]) == 0)
            return false;
    return true;
}

struct str hosted_price(struct arena *a, int64_t amount_minor, const char *currency)
{
    char upper[4] = "";
    for (size_t i = 0; i < 3 && currency[i]; i++)
        upper[i] = (char)toupper((unsigned char)currency[i]);
    if (!has_cents(currency))
        return arena_printf(a, "%lld %s", (long long)amount_minor, upper);
    return arena_printf(a, "%lld.%02lld %s", (long long)amount_minor / 100, (long long)amount_minor % 100, upper);
}

/* "4.99 USD a week" */
static struct str price_of_plan(struct arena *a, const struct config_plan *plan)
{
    struct str price = hosted_price(a, plan->amount_minor, plan->currency);
    if (plan->interval_count == 1)
        return arena_printf(a, "%s a %s", price.p, plan->interval);
    return arena_printf(a, "%s every %lld %ss", price.p, (long long)plan->interval_count, plan->interval);
}

void hosted_terms(struct buf *page, struct arena *a, const struct config_plan *plan, int64_t quantity)
{
    if (plan)
        hosted_fact(page, "Per building", price_of_plan(a, plan));
    hosted_fact(page, "Buildings", arena_printf(a, "%lld", (long long)quantity));
}

enum err hosted_reply(struct request *q, struct reply *p, struct buf *page)
{
    bool full = page->full;
    p->status = 200;
    p->raw = arena_str(q->tx.arena, buf_view(page));
    buf_done(page);
    return full ? ERR_INTERNAL_ERROR : ERR_NONE;
}

/* ---- buttons ---- */

static bool is_browser(struct request *q)
{
    return http_accepts(q->http, "text/html");
}

/* A URL of this service without scheme and host. The service may have several addresses, and the page's policy lets a
 * form lead only to the one that the browser used. */
static struct str beside(struct request *q, struct str url)
{
    struct str here = str_z(q->parts->public_url);
    bool ours = str_starts(url, here) && url.n > here.n && url.p[here.n] == '/';
    return ours ? str_from(url, here.n) : url;
}

enum err hosted_answer(struct request *q, struct reply *p, const struct shape *shape, const void *body, struct str url)
{
    bool browser = is_browser(q);
    if (browser)
        reply_header(p, "Location", beside(q, url));
    return reply_ok(p, browser ? 303 : 200, shape, body);
}

enum err hosted_event(struct request *q, enum billing_object object, struct str object_id)
{
    if (fault_outcome(fault_take("billing", "event")) != OUTCOME_DONE)
        return ERR_NONE;
    struct id id = id_new(clock_now_us());
    struct billing_event event = {
        .id = arena_printf(q->tx.arena, "evt_%s", id.text), .object = object, .object_id = object_id};
    enum err e = jobs_billing_event_receive(&q->work, &event);
    if (!e)
        jobs_drain(q->parts->jobs);
    return e;
}
