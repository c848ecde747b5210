/* Wrong passwords of callers that sign in, by source: 20 at once, then one in ten seconds on average. A right password
 * neither counts nor helps. Passwords that are checked at the same moment are all counted, and waited for later.
 *
 * A source cannot be forged here: its answer needs a nonce that was sent to it. The table is bounded: when it is full
 * of sources that are not forgotten yet, a source that is not in it must wait, too. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

#define SIP_ATTEMPTS_BURST   20
#define SIP_ATTEMPT_MS       10000 /* of one wrong password */
#define SIP_ATTEMPTS_SOURCES 1024

struct sip_attempts {
    struct hash *by_source;
    struct list all;
    unsigned count;
};

int sip_attempts_init(struct sip_attempts *a);
void sip_attempts_done(struct sip_attempts *a);

/* Whether the password of a request from `src` may be checked. */
bool sip_attempts_allow(struct sip_attempts *a, const struct sa *src, int64_t now_ms);
/* Counts a wrong password. True: from now on the source must wait. */
bool sip_attempts_wrong(struct sip_attempts *a, const struct sa *src, int64_t now_ms);
