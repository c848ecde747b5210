/* A call box in software: places one SIP call, presses keys, and reports the answers. */
#pragma once
#include "handset/handset.h"

struct buzz_options {
    const char *to;   /* number or user to call */
    const char *from; /* NULL: "callbox" */
    const char *sip;  /* the service's address, see buzz_is_service */
    struct handset_options handset;
    /* Writes a line of advice, while nobody answers, and at a time-out; NULL: silent. */
    void (*note)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
};

enum {
    BUZZ_OPENED = 0,    /* a release tone was received */
    BUZZ_FAILED = 1,    /* the call could not be placed or was not answered; *ret_why says why */
    BUZZ_NOT_OPENED = 3 /* no release tone: rejected, hung up, timed out */
};

/* Whether the text is HOST:PORT or [IPv6]:PORT. A prefix `tcp:` or a suffix `;transport=tcp` selects TCP; the prefixes
 * `udp:` and `sip:` select UDP. */
bool buzz_is_service(const char *text);

/* Places the call on the calling thread, blocks until it has ended, and returns the exit status. Writes lines to `out`:
 * `answered`, `tone 9`, `hangup`, `rejected 404`, `timeout`. Calls the first address of a host that answers (reach.h).
 * Without any answer, gives advice (`note`) after 3 s and gives up after 10 s. A greeting has ended after 0.4 s of
 * received silence that follow a sound. Without a sound it has ended after 1 s, after a comma: after wait_ms. With
 * BUZZ_FAILED alone, sets *ret_why, which the caller frees. */
int buzz_run(const struct buzz_options *o, FILE *out, char **ret_why);
