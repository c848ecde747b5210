/* Sign-in by e-mail: challenges, and website sessions (contract, Authentication 2; KEY-1 to KEY-9). */
#pragma once
#include "domain/key.h"
#include "domain/member.h"
#include "domain/tx.h"

#define SESSION_NAME       "Website session"
#define OWNER_NAME         "Owner key"
#define CHALLENGE_TTL_S    (15 * 60)
#define CHALLENGE_ATTEMPTS 5
#define CHALLENGES_MAX     3     /* pending challenges of one e-mail */
#define CHALLENGE_DAY_S    86400 /* in which unused challenges count towards limits.otp_per_email, */
#define CHALLENGE_PAUSE_S  3600  /* and the time from one challenge to the next beyond it */
#define CHALLENGE_LEN      36

struct challenge {
    char id[CHALLENGE_LEN + 1]; /* "chl_" and 32 hex */
    bool mailed;                /* false: accounts.signup is listed, and the address has no account */
};

/* Creates a challenge and queues the mail with its code. Does the same work whether or not the e-mail (lower case) has
 * an account, but for that mail. Fails with ERR_LINKED_ACCOUNT (an invited member who has no account),
 * ERR_OTP_RATE_LIMIT (CHALLENGES_MAX challenges are pending; or limits.otp_per_email of the last day are unused, and
 * the newest is younger than an hour: with tx->retry_after_s). */
enum err session_challenge(struct tx *tx, struct str email, struct challenge *ret) CHECKED;

/* The same for the website, where members sign in, too: never fails with ERR_LINKED_ACCOUNT. With accounts.signup
 * listed, members are mailed. */
enum err session_challenge_site(struct tx *tx, struct str email, struct challenge *ret) CHECKED;

/* Exchanges a challenge and its code for a website session; the first one creates the account, unless accounts.signup
 * is listed. Fails with ERR_LINKED_ACCOUNT, ERR_INVALID_OTP. The caller must commit ERR_INVALID_OTP too: it may have
 * used an attempt. */
enum err session_verify(struct tx *tx, struct str email, struct str challenge, struct str otp,
                        struct key_issued *ret) CHECKED;

/* Exchanges a challenge and its code for an owner's credential of an account of the earlier revision. Fails with
 * ERR_WEBSITE_SIGN_IN_REQUIRED for every other address, account and code, so that only the right code tells them apart.
 * As above, the caller must commit an attempt: *ret_commit. Fails with ERR_KEY_LIMIT if there are too many; the code
 * stays valid. */
enum err session_own(struct tx *tx, struct str email, struct str challenge, struct str otp, struct key_issued *ret,
                     bool *ret_commit) CHECKED;

/* The same without a session: *ret_account is the account. */
enum err session_redeem(struct tx *tx, struct str email, struct str challenge, struct str otp,
                        struct id *ret_account) CHECKED;
/* The same on the website: *ret is the key of the address's own account, else of a membership, with its name, else of a
 * new account.
 */
enum err session_admit(struct tx *tx, struct str email, struct str challenge, struct str otp,
                       struct key_options *ret) CHECKED;
/* The account of an e-mail, without a challenge: only for the sandbox. The first call creates it. Fails with
 * ERR_LINKED_ACCOUNT. */
enum err session_trust(struct tx *tx, struct str email, struct id *ret_account) CHECKED;
/* The key of the owner's website session, and of a member's. */
struct key_options session_key(const struct id *account);
struct key_options session_key_of_member(const struct member *m);

/* Deletes at most `limit` challenges that expired before before_us. *ret_count is their number. */
enum err session_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
