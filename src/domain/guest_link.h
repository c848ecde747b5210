/* Links of grants for guests (GRANT-28 to GRANT-37).
 *
 * A link contains a random token, which leads to a page about one grant. It ends when it is withdrawn or its grant is
 * revoked; while the grant is expired it does not work. The token is found by its SHA-256, and kept sealed so that the
 * same link can be given again. */
#pragma once
#include "domain/grant.h"

#define GUEST_LINK_PURPOSE "guest link" /* the purpose that tokens are sealed for */
#define GUEST_TOKEN_LEN    26           /* base62: 154 bits */
#define GUEST_PATH         "/g/"        /* of the pages, then the token */

struct guest_link {
    struct str token;
    struct str timezone; /* for a building without one; STR_NONE: not given */
    int64_t created_us;
    int64_t ends_us; /* the grant's end; or GRANT_NO_END */
};

/* The link of a grant; makes it if there is none, with *ret_made. A timezone (or STR_NONE) replaces an earlier one.
 * Fails with ERR_INVALID_UNLOCK (the timezone), ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND, ERR_GRANT_REVOKED,
 * ERR_GRANT_EXPIRED, ERR_SECRET_DECRYPT_FAILED. */
enum err guest_link_make(struct tx *tx, const struct grant_place *place, const struct id *grant, struct str timezone,
                         struct guest_link *ret, bool *ret_made) CHECKED;
/* The link of a grant, if it has one that works; else ret->token is STR_NONE. Fails with ERR_NOT_FOUND without the
 * grant, and ERR_SECRET_DECRYPT_FAILED. */
enum err guest_link_get(struct tx *tx, const struct grant_place *place, const struct id *grant,
                        struct guest_link *ret) CHECKED;
/* Withdraws the link; may be repeated. Needs no subscription. Fails with ERR_NOT_FOUND without the grant. */
enum err guest_link_end(struct tx *tx, const struct grant_place *place, const struct id *grant) CHECKED;

/* The facts that a guest may know. */
struct guest_view {
    struct str token;   /* of the link */
    struct grant grant; /* without its label and its request */
    struct str building;
    struct str street, city, call_box_name; /* STR_NONE: not known */
    struct str timezone;                    /* of times; STR_NONE: not known */
    bool works;                             /* false if the grant opens no more as it is, or the door lacks something */
};
/* Fails with ERR_NOT_FOUND for a token that is unknown, ended, or of an expired grant. */
enum err guest_link_open(struct tx *tx, struct str token, struct guest_view *ret) CHECKED;
