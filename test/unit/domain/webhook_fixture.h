/* Endpoints and deliveries, for tests in one transaction (tx_fixture.h). */
#pragma once
#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/webhook.h"
#include "tx_fixture.h"

#define EVENT_BIT(symbol) (1U << EVENT_##symbol)
#define ALL_EVENTS        ((1U << EVENT_TYPE_COUNT) - 1)
#define URL               STR("https://example.com/hook")

static inline struct id some_account(struct tx *tx, const char *email)
{
    struct id account;
    assert_none(account_ensure(tx, str_z(email), &account));
    return account;
}

static inline struct webhook some_webhook(struct tx *tx, const struct id *account, uint32_t events)
{
    struct webhook w;
    struct str secret;
    bool replayed;
    assert_none(webhook_create(tx, &(struct webhook_request){.account = account}, URL, events, &w, &secret, &replayed));
    assert_false(replayed);
    return w;
}

static inline struct delivery_page page_of(struct tx *tx, const struct id *account, const struct id *webhook)
{
    struct delivery_page page;
    assert_none(delivery_log_page(tx, account, webhook, &(struct delivery_filter){.limit = v_int(100)}, &page));
    return page;
}

/* Sets a status as the engine records it. */
static inline void set_status(struct tx *tx, const struct id *delivery, const char *status)
{
    tx_sql(tx, arena_printf(tx->arena,
                            "UPDATE delivery SET status = '%s', attempts = 5, attempted_at = 7000000, status_code = "
                            "503, failure = 'status' WHERE id = '%s';",
                            status, delivery->text)
                   .p);
}
