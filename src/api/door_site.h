/* The website's door: calls of its pages, which are requests below /app, and pages for residents. The browser's cookie
 * has the place of the key. */
#pragma once
#include "api/door.h"

#define SITE_PREFIX "/app"

extern const struct door door_site;

/* Makes this the request's door. */
void site_enter(struct request *q);

/* Fails with ERR_CROSS_SITE_REQUEST unless a page of this host sent the request: browsers send cookies for any page.
 * They name the sender in Sec-Fetch-Site. Without that field, Origin must name the request's own host; GET and HEAD
 * need no Origin either, because they change nothing and other pages cannot read the reply.
 *
 * The own host is the one in the Host field: with another name, a browser does not send the cookie. */
enum err site_check(const struct request *q) CHECKED;

/* For a page: selects a building as its ID in a header would, for the page and its parts. BUILDING_NOT_FOUND. */
enum err site_choose_building(struct request *q, const struct id *wanted) CHECKED;
