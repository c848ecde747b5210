/* Deliveries to the developer's receiver, as an endpoint gets them (event/envelope.h). */
#pragma once
#include <curl/curl.h>

#include "client/listen_event.h"

#define LISTEN_SECRET_MAX 64

/* Writes the secret that signs the deliveries: always the same for a key, which does not follow from it. */
void listen_secret(const char *key, char ret[static LISTEN_SECRET_MAX]);
/* Posts the event, waits 5 s at most, as the service does, and prints a line with the receiver's status, or why there
 * is none. Not repeated. */
void listen_post(CURL *curl, const char *url, const char *secret, const struct listen_event *e);
