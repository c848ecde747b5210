/* The phones of persons, verified by a code (contract, Forwarding phone; ACCOUNT-11 to ACCOUNT-24, ACCOUNT-45): the
 * account's forwarding phone, which is the owner's, and the phones of members, which ring with it. `member` is empty
 * for the owner. A number that an account has verified is not another person's; of members, the last to verify it has
 * it. */
#pragma once
#include "base/forms.h"
#include "domain/tx.h"

#define PHONE_CODE_LEN         6
#define PHONE_CODE_TTL_S       (10 * 60)
#define PHONE_CODE_ATTEMPTS    5
#define PHONE_CODES_MAX        3 /* codes in the window, sent or not: of an owner, or of a building's members together */
#define PHONE_CODES_WINDOW_S   (15 * 60)
#define PHONE_CHANGES_MAX      3 /* successful changes in the window */
#define PHONE_CHANGES_WINDOW_S 86400

struct phone_status {
    struct str number;   /* STR_NONE: not verified */
    int64_t verified_us; /* 0: not known */
    struct {
        struct str number; /* STR_NONE: no code is pending */
        int64_t expires_us;
        int64_t attempts_left;
    } pending;
};

/* Fails with ERR_ACCOUNT_NOT_FOUND, as of a member that is removed. */
enum err phone_status(struct tx *tx, const struct id *account, const struct id *member,
                      struct phone_status *ret) CHECKED;

struct phone_code {
    struct id id;
    char text[PHONE_CODE_LEN + 1]; /* the caller must wipe it */
    int64_t expires_us;
    struct str as; /* the number of the member's building, or of one of the account's; in the arena */
};

/* Creates a code for the number, which must have PHONE_FORM. The caller sends it after the commit; it is valid
 * after phone_code_sent. Fails, in this order, with ERR_ACCOUNT_NOT_FOUND, ERR_SUBSCRIPTION_REQUIRED,
 * ERR_NUMBER_NOT_PROVISIONED, ERR_ALREADY_VERIFIED, ERR_INVALID_PHONE_NUMBER (voice.destinations), ERR_PHONE_IN_USE,
 * ERR_MEMBER_LIMIT (RING_MEMBERS_MAX other members have phones that ring), ERR_PHONE_CHANGE_LIMIT,
 * ERR_PHONE_CODE_RATE_LIMIT, ERR_INVALID_PHONE_NUMBER (no minute is left for the call that tells the code). */
enum err phone_code_new(struct tx *tx, const struct id *account, const struct id *member, struct str number,
                        struct phone_code *ret) CHECKED;
/* Makes a code valid that was sent; it replaces the pending one. */
enum err phone_code_sent(struct tx *tx, const struct id *account, const struct id *code) CHECKED;

/* Sets the person's phone to the number of the pending code, if `text` (six digits) is that code. The caller must
 * commit ERR_INVALID_PHONE_CODE too: it has used an attempt. Also fails with ERR_ACCOUNT_NOT_FOUND,
 * ERR_SUBSCRIPTION_REQUIRED, ERR_NUMBER_NOT_PROVISIONED, ERR_PHONE_CODE_EXPIRED, ERR_PHONE_CODE_ATTEMPTS,
 * ERR_PHONE_IN_USE, ERR_MEMBER_LIMIT, ERR_PHONE_CHANGE_LIMIT. */
enum err phone_confirm(struct tx *tx, const struct id *account, const struct id *member, struct str text,
                       struct phone_status *ret) CHECKED;
/* A member's phone rings no more, and is forgotten. Its codes count on. Fails with ERR_NOT_FOUND without a verified
 * phone of a member. */
enum err phone_give_up(struct tx *tx, const struct id *account, const struct id *member) CHECKED;

/* Sets the account's phone to a number that the operator has verified. Fails with ERR_ACCOUNT_NOT_FOUND,
 * ERR_INVALID_PHONE_NUMBER (voice.destinations), ERR_PHONE_IN_USE. */
enum err phone_vouch(struct tx *tx, const struct id *account, struct str number) CHECKED;

/* *ret: the account has verified the number, now or before, and no other account has it now. */
enum err phone_verified_before(struct tx *tx, const struct id *account, struct str number, bool *ret) CHECKED;

/* Deletes at most `limit` codes that expired before before_us. *ret_count is their number. */
enum err phone_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
