/* The forwarding phone, which is an account's once a code that was sent to it has come back (contract, Forwarding
 * phone; decisions sections 3 and 10). */
#pragma once
#include "domain/tx.h"

#define PHONE_PATTERN          "^\\+[1-9][0-9]{6,14}$"
#define PHONE_CODE_LEN         6
#define PHONE_CODE_TTL_S       (10 * 60)
#define PHONE_CODE_ATTEMPTS    5
#define PHONE_CODES_MAX        3 /* that an account may request in the window, sent or not */
#define PHONE_CODES_WINDOW_S   (15 * 60)
#define PHONE_CHANGES_MAX      3 /* that succeed in the window */
#define PHONE_CHANGES_WINDOW_S 86400

struct phone_status {
    struct str number;   /* STR_NONE: none is verified */
    int64_t verified_us; /* 0: not known */
    struct {
        struct str number; /* STR_NONE: no code waits */
        int64_t expires_us;
        int64_t attempts_left;
    } pending;
};

/* ERR_ACCOUNT_NOT_FOUND. */
enum err phone_status(struct tx *tx, const struct id *account, struct phone_status *ret) CHECKED;

struct phone_code {
    struct id id;
    char text[PHONE_CODE_LEN + 1]; /* wipe after use */
    int64_t expires_us;
};

/* Makes a code for the number (which fits PHONE_PATTERN), to be sent after the commit. It confirms nothing before
 * phone_code_sent. Errors, in this order: ERR_ACCOUNT_NOT_FOUND, ERR_SUBSCRIPTION_REQUIRED, ERR_NUMBER_NOT_PROVISIONED,
 * ERR_ALREADY_VERIFIED, ERR_PHONE_IN_USE, ERR_PHONE_CHANGE_LIMIT, ERR_PHONE_CODE_RATE_LIMIT. */
enum err phone_code_new(struct tx *tx, const struct id *account, struct str number, struct phone_code *ret) CHECKED;
/* The code is on its way: it replaces what waited before. */
enum err phone_code_sent(struct tx *tx, const struct id *account, const struct id *code) CHECKED;

/* Makes the number of the newest code the account's, if `text` (six digits) is that code.
 * ERR_INVALID_PHONE_CODE has used up an attempt: the transaction must be kept. Other errors: ERR_ACCOUNT_NOT_FOUND,
 * ERR_SUBSCRIPTION_REQUIRED, ERR_NUMBER_NOT_PROVISIONED, ERR_PHONE_CODE_EXPIRED, ERR_PHONE_CODE_ATTEMPTS,
 * ERR_PHONE_IN_USE, ERR_PHONE_CHANGE_LIMIT. */
enum err phone_confirm(struct tx *tx, const struct id *account, struct str text, struct phone_status *ret) CHECKED;

/* Is the number this account's verified one, or one it verified before that is no other account's now? */
enum err phone_verified_before(struct tx *tx, const struct id *account, struct str number, bool *ret) CHECKED;

/* Deletes at most `limit` codes that expired before then; *ret_count says how many. */
enum err phone_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
