/* The documents of OAuth clients (oauth/oauth_document.h): fetched for residents who were asked for their consent, and
 * kept in memory for as long as HTTP allows, at most a day. */
#pragma once
#include "api/request.h"
#include "oauth/oauth_document.h"

struct client_documents;

enum err client_documents_new(const struct config *config, struct client_documents **ret) CHECKED;
void client_documents_free(struct client_documents *d);

/* The client with that address (oauth_client_is_address), in the request's arena. `ret_why` is NULL, or the reason why
 * its document is no good, for its author, and nothing is kept then. Fails with ERR_RATE_LIMIT_EXCEEDED if too many
 * documents are being fetched (api/slots.h). Blocks for at most five seconds; must not be called in a
 * transaction. Any thread. */
enum err client_documents_get(struct client_documents *d, struct request *q, struct str address,
                              struct oauth_client *ret, const char **ret_why) CHECKED;
