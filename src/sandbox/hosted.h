/* Shared by the provider's hosted pages, checkout and portal: HTML, events, and replies for both browsers and programs.
 */
#pragma once
#include "api/route.h"
#include "base/buf.h"
#include "billing/plan.h"
#include "providers/billing.h"

#define HOSTED_PAGE_MAX 16384

/* The start of a page up to <main>, and its end. Texts are escaped. */
void hosted_begin(struct buf *page, const char *title, const char *subtitle);
void hosted_end(struct buf *page);
/* <dt>, <dd> */
void hosted_fact(struct buf *page, const char *name, struct str text);
/* A price in its currency: "4.99 USD". In the arena. */
struct str hosted_price(struct arena *a, int64_t amount_minor, const char *currency);
/* The facts of a subscription: the plan's price per building (NULL: unknown) and the number of buildings. */
void hosted_terms(struct buf *page, struct arena *a, const struct config_plan *plan, int64_t quantity);
/* Replies with the page and frees it. */
enum err hosted_reply(struct request *q, struct reply *p, struct buf *page) CHECKED;

/* Replies to a form: 200 with the body; for a browser 303 to `url` with the same body. */
enum err hosted_answer(struct request *q, struct reply *p, const struct shape *shape, const void *body,
                       struct str url) CHECKED;

/* Receives the provider's event for a changed object and runs the jobs that follow from it. A fault ordered for the
 * operation `event` drops the event. For blocking handlers. */
enum err hosted_event(struct request *q, enum billing_object object, struct str object_id) CHECKED;
