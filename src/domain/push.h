/* Web Push: subscriptions of browsers to a building's notices, and the messages for them.
 *
 * A subscription belongs to a browser that is signed in (domain/browser.h) and ends with it, or with its person's
 * membership. A message waits in the
 * store until the push service has it, or it is of no use any more; a newer one of the same kind replaces it. So the
 * number of subscriptions bounds the number of messages. */
#pragma once
#include "base/crypto.h"
#include "base/webpush.h"
#include "domain/notice.h"

#define PUSH_PURPOSE      "push" /* the purpose that the service's key is sealed for */
#define PUSH_ENDPOINT_MAX 1024

/* The service's key pair for all push services. Makes one if the store has none. */
enum err push_key_claim(struct tx *tx) CHECKED;
/* Fails with ERR_SECRET_DECRYPT_FAILED. The caller must wipe *ret. */
enum err push_key_get(struct tx *tx, struct webpush_key *ret) CHECKED;
/* The public half alone, base64url, in the arena: applicationServerKey of the Push API. */
enum err push_key_point(struct tx *tx, struct str *ret) CHECKED;

/* A browser, by the hash of its cookie. */
struct push_browser {
    unsigned char hash[SHA256_LEN];
};
/* The browser of a website session's key. Fails with ERR_NOT_FOUND. */
enum err push_browser_of(struct tx *tx, const struct id *account, const struct id *key,
                         struct push_browser *ret) CHECKED;

struct push_request {
    struct id account_id, building_id, member_id; /* member_id empty: the owner's browser */
    struct push_browser browser;
    unsigned notices; /* bits; not 0 */
    struct str language;
    struct str endpoint; /* checked by the caller */
    struct webpush_receiver keys;
};
/* Subscribes a browser, or changes its subscription. Its other subscriptions get the endpoint and keys too. */
enum err push_subscribe(struct tx *tx, const struct push_request *request) CHECKED;
/* Does nothing without a subscription. */
enum err push_unsubscribe(struct tx *tx, const struct id *building, const struct push_browser *browser) CHECKED;
/* Ends the subscriptions of a member, whose browsers may be signed in elsewhere. */
enum err push_end_member(struct tx *tx, const struct id *building, const struct id *member) CHECKED;

struct push_entry {
    struct id browser_id;
    struct str program, system; /* STR_NONE: not known */
    struct push_browser browser;
    unsigned notices;
    int64_t created_us;
    struct val refused_at, refused_with; /* time and status of the last notice that was not taken; null: it was */
};
/* A member's subscriptions of a building, or the owner's (an empty ID), newest first, in the arena. */
enum err push_list(struct tx *tx, const struct id *building, const struct id *member, const struct push_entry **ret,
                   size_t *ret_count) CHECKED;

/* The number of browsers that are told of a moment. */
enum err push_count(struct tx *tx, const struct notice_moment *m, size_t *ret) CHECKED;
/* Queues messages of a moment for the building's subscriptions. */
enum err push_spread(struct tx *tx, const struct id *account, struct str building,
                     const struct notice_moment *m) CHECKED;
/* Queues the test for one browser. Fails with ERR_NOT_FOUND without a subscription. */
enum err push_test(struct tx *tx, const struct id *account, const struct id *building,
                   const struct push_browser *browser) CHECKED;

struct push_message {
    struct id building_id, account_id;
    struct push_browser browser;
    enum notice notice;
    int64_t at_us, attempt; /* 1 the first time */
    struct str payload;
    struct str endpoint; /* empty: the subscription has ended */
    struct webpush_receiver keys;
};
#define PUSH_TAKE_MAX 16

/* Leases due messages for 12 seconds, at most PUSH_TAKE_MAX, none of the `busy` accounts. They are in the arena. */
enum err push_take(struct tx *tx, const struct id *busy, size_t busy_count, struct push_message *ret,
                   size_t *ret_count) CHECKED;
/* When the first message or recorded moment is due, or leased ones must be looked at; INT64_MAX: nothing waits. */
enum err push_next(struct tx *tx, int64_t *ret_us) CHECKED;

enum push_end {
    PUSH_DELIVERED,
    PUSH_GONE,    /* the push service does not know the endpoint: the subscription ends */
    PUSH_DROPPED, /* it is not sent again, and the subscription says so */
    PUSH_LATER    /* it is sent again at due_us */
};
/* Records the end of an attempt, which was answered with `status` (0: there was no answer). Uses the message's
 * building, browser, notice, time and endpoint. */
enum err push_record(struct tx *tx, const struct push_message *m, enum push_end end, int64_t status,
                     int64_t due_us) CHECKED;
