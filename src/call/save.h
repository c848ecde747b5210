/* A call between two events, as text: for front ends that keep no call in memory (the voice webhooks of a provider, on
 * any of several nodes). */
#pragma once
#include "base/json.h"
#include "call/story.h"

/* The members of a call as a JSON object, which the caller must release (json_decref); NULL without memory. The digits
 * entered so far are not in it: codes are never stored in the clear. */
json_t *call_save(const struct call *c);
/* Reads such an object. Returns false, with *ret untouched, for anything that no call can be: unknown states, counts
 * out of range, texts that do not fit. Members that are missing are as after call_init. */
bool call_load(const json_t *object, struct call *ret) CHECKED;

/* The same for the record so far; tone_way is not in it. */
json_t *call_save_story(const struct story *s);
bool call_load_story(const json_t *object, struct story *ret) CHECKED;
