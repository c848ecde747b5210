/* The streams of events (GET /v1/buildings/{buildingId}/events): from the feed of a building (domain/feed.h) to its
 * readers on all loops. Another protocol may have the same in a form of its own.
 *
 * One thread reads. For each building whose feed has grown and that has readers here, it reads the events since the
 * last that all of them were given, renders them once, and posts them to the loops. It also asks from time to time
 * whether the key of each stream may still read, and on a shared store whether a feed has grown unnoticed. */
#pragma once
#include "base/config.h"
#include "base/crypto.h"
#include "http/stream.h"
#include "store/store.h"

#define HUB_STREAMS_A_KEY 25  /* one for each building of an account, and five more */
#define HUB_TAG_MAX       128 /* bytes */
#define HUB_CATCH_UP      200 /* events that a reader may have missed; with more, it must begin again */

struct hub;

enum err hub_new(const struct config *c, struct store *store, struct hub **ret) CHECKED;
/* Ends the thread. The HTTP server must have stopped. */
void hub_stop(struct hub *h);
void hub_free(struct hub *h);

/* For the store's listener. Any thread; does not block. */
void hub_changed(struct hub *h, unsigned topics, const struct store_fed *fed);

struct hub_reader;

/* How a stream is written, appended to `out`, if it does not consist of the events themselves. On the loop's thread. */
struct hub_form {
    void (*begin)(const struct hub_reader *r, struct buf *out);
    /* Events of these types have come: a set of 1 << enum feed_type. */
    void (*news)(const struct hub_reader *r, uint32_t types, struct buf *out);
    /* The service ends the stream. */
    void (*end)(const struct hub_reader *r, struct buf *out);
};

/* A stream that is about to begin. */
struct hub_reader {
    struct id building_id, key_id;
    unsigned char hash[SHA256_LEN]; /* of the key */
    uint32_t scopes;                /* bits; the stream ends when the key lacks one */
    bool subscribed;                /* the key's account */
    bool reset;                     /* events were missed that cannot be sent any more */
    int64_t seq;                    /* the reader has all events up to this one */
    const struct hub_form *form;    /* NULL: the events */
    unsigned wanted;                /* the form's own, as the tag */
    char tag[HUB_TAG_MAX];
};

/* Whether the key may have one more stream. Fails with ERR_RATE_LIMIT_EXCEEDED, or ERR_SERVICE_UNAVAILABLE if there are
 * too many streams of all keys. Any thread. */
enum err hub_room(struct hub *h, const struct id *key) CHECKED;
/* Answers r with a stream, which ends at once if requests at the same time have taken the room. On its loop's thread.
 */
void hub_open(struct hub *h, struct http_request *r, unsigned loop, struct str head, const struct hub_reader *reader);
