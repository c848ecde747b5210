/* Documents that clients of OAuth publish about themselves (OAuth Client ID Metadata Document, draft 02; fields as in
 * RFC 7591). */
#pragma once
#include "oauth/oauth_client.h"

#define OAUTH_DOCUMENT_MAX 5120 /* bytes, as section 8.7 recommends */

/* Reads the document of that address: NULL, or the reason why it is refused, for its author. The client's redirects are
 * the document's allowed ones. */
const char *oauth_document_read(struct arena *a, struct str id, struct str text, struct oauth_client *ret);
