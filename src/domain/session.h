/* Sign-in by e-mail: challenges and the website sessions they become (contract, Authentication 2; decisions section 2).
 */
#pragma once
#include "domain/key.h"
#include "domain/tx.h"

#define SESSION_NAME       "Website session"
#define CHALLENGE_TTL_S    (15 * 60)
#define CHALLENGE_ATTEMPTS 5
#define CHALLENGES_MAX     3 /* of one e-mail at once */
#define CHALLENGE_LEN      36

struct challenge {
    char id[CHALLENGE_LEN + 1]; /* "chl_" and 32 hex */
};

/* Makes a challenge and queues the mail with its code. Does the same work whether or not the e-mail (lower case) has an
 * account. ERR_LINKED_ACCOUNT: an invited member without an account of their own; ERR_OTP_RATE_LIMIT: a fourth one. */
enum err session_challenge(struct tx *tx, struct str email, struct challenge *ret) CHECKED;

/* Turns a challenge and its code into a website session; the first one makes the account. ERR_LINKED_ACCOUNT;
 * ERR_INVALID_OTP, which may have used up an attempt: the transaction must be kept. */
enum err session_verify(struct tx *tx, struct str email, struct str challenge, struct str otp,
                        struct key_issued *ret) CHECKED;

/* Deletes at most `limit` challenges that expired before then; *ret_count says how many. */
enum err session_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
