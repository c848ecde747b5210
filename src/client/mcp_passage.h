/* A message of an assistant on its way to POST /mcp of a service. Replies, and notifications of a subscription, are
 * written to standard output, a message a line. */
#pragma once
#include "base/json.h"
#include "client/remote.h"

struct passage;

/* Sends the message, which is taken over; `line` is its text. `multi` has its transfer until it has ended. */
struct passage *passage_new(const struct remote *r, CURLM *multi, json_t *message, struct str line);
/* Writes the messages that are left: `e` is the end of the transfer. Returns false if nobody reads any more. */
bool passage_ended(struct passage *p, CURLcode e);
/* NULL is allowed. Ends the transfer. */
void passage_free(struct passage *p);

/* The passage of a transfer of `multi`. */
struct passage *passage_of(CURL *curl);
/* It is a subscription: it may last, and others do not wait for it. */
bool passage_listens(const struct passage *p);
/* Its ID is this one. */
bool passage_is(const struct passage *p, const json_t *id);

/* Writes an error to standard output; takes `data` over, which may be NULL, as may `id`. Returns false if nobody reads
 * any more. */
bool passage_write_error(const json_t *id, int code, const char *message, json_t *data);
