/* The API as one HTTP handler: connects the server with the routes' handlers. */
#pragma once
#include "api/journal.h"
#include "api/route.h"
#include "domain/call_command.h"
#include "domain/trunk_board.h"
#include "http/asset.h"
#include "jobs/delivery.h"
#include "jobs/notices.h"
#include "jobs/queue.h"
#include "jobs/readiness.h"
#include "providers/providers.h"

struct known;

struct service_options {
    const struct config *config;
    struct store *store;
    const struct route_set *const *sets; /* searched in order; must outlive the service */
    size_t set_count;
    struct jobs *jobs; /* for handlers, as are the providers; NULL: no served route needs them */
    const struct providers *providers;
    struct deliveries *deliveries;
    struct notices *notices;
    struct readiness *readiness; /* NULL as the jobs */
    struct known *known;         /* doors in memory, for the webhooks of calls (call/known.h); NULL: there are none */
};

struct service;

enum err service_new(const struct service_options *options, struct service **ret) CHECKED;
/* Must follow the HTTP server's stop, and precede the store's. Waits for running blocking handlers whose requests have
 * timed out, and drops queued ones. */
void service_stop(struct service *s);
void service_free(struct service *s);

/* Sets the public address of the service (copied). Must be called once, after service_new and before the first request.
 */
void service_publish(struct service *s, const char *public_url);

/* Sets the board of the trunks, which must outlive the service; NULL: there are none. Before the first request. */
void service_set_trunks(struct service *s, struct trunk_board *board);

/* The speech of the telephones. All may be called on any thread until service_stop. */
struct service_greetings {
    /* Has a saved greeting ready for calls: `name` is the text or the ID of a recording, and is copied. Does not wait.
     */
    void (*prepare)(void *arg, bool recording, struct str name);
    /* Appends a WAV file of the text; false: nothing in it can be spoken. Takes up to a second. */
    bool (*speak)(struct str text, struct buf *ret);
    /* Appends a WAV file of a recording. */
    void (*play)(struct str ulaw, struct buf *ret);
    /* Whether codes that callers say are understood. */
    bool (*hears)(void *arg);
    void *arg;
};
/* Before the first request; without it there are no telephones. */
void service_set_greetings(struct service *s, const struct service_greetings *greetings);

/* Sets the performer of commands to calls in progress, which may wait CALL_COMMAND_WAIT_US; ERR_NOT_FOUND: it does not
 * have the call. As service_set_greetings. */
void service_set_calls(struct service *s, call_commander *command, void *arg);

/* The handler for http_server_new. */
struct http_handler service_handler(struct service *s);

/* For handlers. */
struct store *service_store(const struct service *s);
struct jobs *service_jobs(const struct service *s);
struct deliveries *service_deliveries(const struct service *s);
struct notices *service_notices(const struct service *s);
const struct providers *service_providers(const struct service *s);
struct readiness *service_readiness(const struct service *s);
struct known *service_known(const struct service *s);
struct hub *service_hub(const struct service *s);
struct client_documents *service_client_documents(const struct service *s);
struct trunk_board *service_trunks(const struct service *s);
/* Performs the command. Fails with ERR_NOT_FOUND if no call of this process is meant. */
enum err service_command_call(const struct service *s, const struct call_command *command,
                              struct call_command_result *ret) CHECKED;
/* NULL without telephones. */
const struct service_greetings *service_greetings(const struct service *s);
/* Whether this installation understands codes that callers say: over Twilio, or over SIP with its models loaded. */
bool service_hears(const struct service *s);
/* Time of service_new, monotonic. */
int64_t service_started_us(const struct service *s);
/* The public address, without a trailing slash, for links. */
const char *service_public_url(const struct service *s);
/* For the handler of a page, in its transaction: appends to `out` what GET of that path below /app, with its query,
 * answers with 200. The gate checks the part as it checks that GET: credential, scopes, building, path, query. Counts
 * as part of the page's request. */
enum err service_embed(struct request *q, struct str path, struct buf *out) CHECKED;
/* For a row's `verify`: makes q a request of this row instead. Its path, query, headers and body must be set, too. */
void service_become(struct request *q, const struct route *row);
/* Runs a GET row for q, in its transaction, with the parameters of its path. The gate checks it as it checks that GET,
 * but for authentication and limits. */
enum err service_read(struct request *q, const struct route *row, struct reply *ret) CHECKED;
/* Sets where the documents for developers come from, by their paths. `find` may be called by several threads at once,
 * and returns NULL if there is no such document. Before the first request. */
void service_set_documents(struct service *s, const struct http_asset *(*find)(void *arg, struct str path), void *arg);
/* The document of that path, such as "/docs/api"; NULL if there is none. For blocking handlers. */
const struct http_asset *service_document(const struct service *s, struct str path);
/* The OpenAPI document of api_sets. For blocking handlers: the first one builds it, in a few hundredths of a second. */
const struct http_content *service_openapi(struct service *s);
/* For the store's listener: invalidates cached authentications (TOPIC_KEYS), and tells the streams of events. Any
 * thread. */
void service_changed(struct service *s, unsigned topics, const struct store_fed *fed);
