/* Requests in texts of the service, as commands for people. */
#pragma once
#include "base/buf.h"
#include "base/json.h"

/* Appends the text with each request line that is a command of this program in its place: "Start a checkout with POST
 * /v1/billing/checkout." becomes "Start a checkout with `portero checkout create`." */
void request_words_put(struct str text, struct buf *out);
/* Does so in the members next_action and those whose name ends in command, of the value and all within it. */
void request_words_replace(json_t *value);
