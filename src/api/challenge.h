/* WWW-Authenticate: how a client gets a key, or one with further scopes (RFC 6750 section 3, RFC 9728 section 5.1, and
 * the authorization of the Model Context Protocol). */
#pragma once
#include "api/request.h"

/* Whether the request failed for lack of scopes, and the key's owner could allow all of them to an assistant. */
bool challenge_widens(const struct request *q);

/* Appends the field to the head of a reply with this error. Nothing for an error that no other key would avoid. */
void challenge_put(const struct request *q, enum err e, struct buf *head);
