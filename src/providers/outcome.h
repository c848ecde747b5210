/* The outcome of a call to an outside provider. */
#pragma once
#include <stdbool.h>

enum outcome {
    OUTCOME_DONE,    /* the provider has acted */
    OUTCOME_REFUSED, /* the provider has refused, and has not acted; repeating the call would not help */
    OUTCOME_UNKNOWN  /* a timeout, a 5xx: the provider may have acted; repeat the call with the same key */
};

enum provider { PROVIDER_STRIPE, PROVIDER_TWILIO, PROVIDER_SMTP };
/* Counts a call to a provider, and returns its outcome. */
enum outcome outcome_count(enum provider p, enum outcome o);

/* For the log: "done", "refused", "unknown". */
const char *outcome_text(enum outcome o);

/* Should a call that ended with `o` be repeated at once, with the same key? Sleeps before it returns true. *tries
 * counts the calls, from 0.
 *
 *     int tries = 0;
 *     do
 *         o = …;
 *     while (outcome_again(o, &tries)); */
bool outcome_again(enum outcome o, int *tries);
