/* The parts of the service that handlers reach besides their transaction, as q->parts. */
#pragma once
#include "domain/call_command.h"
#include "http/asset.h"

struct client_documents;
struct config;
struct deliveries;
struct hub;
struct jobs;
struct known;
struct notices;
struct providers;
struct readiness;
struct store;
struct trunk_board;

/* The speech of the telephones. All may be called on any thread until service_stop. */
struct speech_part {
    /* Has a saved greeting ready for calls: `name` is the text or the ID of a recording, and is copied. Does not wait.
     */
    void (*prepare)(void *arg, bool recording, struct str name);
    /* Appends a WAV file of the text; false: nothing in it can be spoken. Takes up to a second. */
    bool (*speak)(struct str text, struct buf *ret);
    /* Whether codes that callers say are understood. */
    bool (*hears)(void *arg);
    void *arg;
};

/* They are set before the first request, do not change until service_stop, and outlive it. A part that no served route
 * needs may be NULL. */
struct parts {
    struct store *store;
    struct jobs *jobs;
    const struct providers *providers;
    struct deliveries *deliveries;
    struct notices *notices;
    struct readiness *readiness;
    struct known *known; /* doors in memory, for the webhooks of calls (call/known.h) */
    struct client_documents *client_documents;
    /* Appends a WAV file of a recording. */
    void (*play)(struct str ulaw, struct buf *ret);
    struct hub *hub;                  /* made by service_new, as the next */
    int64_t started_us;               /* time of service_new, monotonic */
    const char *public_url;           /* without a trailing slash, for links */
    struct trunk_board *trunks;       /* NULL: there are none */
    const struct speech_part *speech; /* NULL without telephones */
    /* Performs commands to calls in progress, which may wait CALL_COMMAND_WAIT_US; NULL without telephones. */
    call_commander *command_call;
    void *command_arg;
    /* The documents for developers, by their paths; any thread. NULL: there are none. */
    const struct http_asset *(*find_document)(void *arg, struct str path);
    void *documents;
};

/* The document of that path, such as "/docs/api"; NULL if there is none. For blocking handlers. */
static inline const struct http_asset *parts_document(const struct parts *p, struct str path)
{
    return p->find_document ? p->find_document(p->documents, path) : NULL;
}

/* Whether this installation understands codes that callers say: over Twilio, or over SIP with its models loaded. */
bool parts_hear(const struct parts *p, const struct config *c);
