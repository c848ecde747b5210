/* Parts of the handlers of grants that both revisions of the interface have. */
#pragma once
#include "api/route.h"
#include "domain/grant.h"

/* The building of a request, borrowed from it. */
struct grant_place grant_place_of(const struct request *q);
/* Replies with the grant, and its version as ETag (contract: the quoted decimal version). */
enum err grant_reply(struct request *q, struct reply *p, int status, struct grant *g) CHECKED;
/* The reply to its creation: 201 with its address, `path` and its ID, or 200 to a repetition. */
enum err grant_reply_created(struct request *q, struct reply *p, const char *path, struct grant *g,
                             bool replayed) CHECKED;
/* For a creation's row: the receipt of a grant of the contract, and of one that the request describes. */
enum err grant_receipt(struct request *q) CHECKED;
enum err grant_receipt_of(struct request *q, const struct grant_request *request) CHECKED;
/* Of a struct grant_filter: an unfiltered page is one range of an index; a filter may scan many rows. */
bool grant_filters(const void *query);

/* The query of a revocation. */
struct grant_revocation {
    struct val forget; /* bool */
};
extern const struct shape grant_revocation_shape;
/* Revokes the grant of the path, as the query says. */
enum err grant_end(struct request *q) CHECKED;
