/* A resident's telephone in software: waits for one SIP call over UDP, answers or refuses it, and presses keys. */
#pragma once
#include "handset/handset.h"

struct phone_options {
    const char *listen; /* ADDRESS:PORT of this machine, see phone_is_address */
    int64_t answer_ms;  /* how long it rings before it answers or refuses */
    int64_t refuse;     /* status with which it refuses, 400 to 699; 0: it answers */
    int64_t hangup_ms;  /* from the last key to hanging up; below 0: the other side hangs up */
    struct handset_options handset;
};

enum {
    PHONE_TALKED = 0,      /* the call was answered */
    PHONE_FAILED = 1,      /* the telephone could not listen; *ret_why says why */
    PHONE_NOT_ANSWERED = 3 /* no call, refused, or canceled by the caller */
};

/* Whether the text is ADDRESS:PORT or [IPv6]:PORT with a numeric address, and not the address that means all of them.
 */
bool phone_is_address(const char *text);

/* Waits for a call on the calling thread, blocks until it has ended, and returns the exit status. Writes lines to
 * `out`: `listening sip:A:P`, `ringing from +1555…`, `answered`, `refused 486`, `canceled`, `tone 9`, `hangup`,
 * `timeout`. Further calls get 486. With PHONE_FAILED alone, sets *ret_why, which the caller frees. */
int phone_run(const struct phone_options *o, FILE *out, char **ret_why);
