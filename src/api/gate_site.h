/* Calls of the website's pages: requests below /app, which carry the browser's cookie in place of a key. */
#pragma once
#include "api/request.h"

#define SITE_PREFIX "/app"

/* Fails with ERR_CROSS_SITE_REQUEST unless a page of this host sent the request: browsers send cookies for any page.
 * They name the sender in Sec-Fetch-Site. Without that field, Origin must name the request's own host; GET and HEAD
 * need no Origin either, because they change nothing and other pages cannot read the reply.
 *
 * The own host is the one in the Host field: with another name, a browser does not send the cookie. */
enum err gate_check_site(struct request *q) CHECKED;
