/* Buildings: the primary one of an account, and linked ones (contract, Buildings; docs/behaviour/buildings.md). */
#pragma once
#include "domain/principal.h"
#include "domain/tx.h"

#define BUILDING_MAX       20  /* of one account, the primary included */
#define BUILDING_LABEL_MAX 120 /* characters, as the next one */
#define CALL_BOX_NAME_MAX  60

struct building_address {
    struct str street, city, state, zip, country; /* STR_NONE: not known */
};

struct building {
    struct id id, account_id;
    bool primary;
    struct str label;
    bool has_address;
    struct str street, city, state, zip, country; /* STR_NONE: not known */
    struct str number;                            /* the virtual number, E.164; STR_NONE: not provisioned yet */
    struct str unlock_tone;                       /* STR_NONE: not set */
    struct str timezone;                          /* IANA name; STR_NONE: not set */
    int64_t last_buzz_us;                         /* last release by a grant; 0: never */
};

/* Checks that the account has the building; for the gate. *ret_linked: it is not the primary one. Fails with
 * ERR_BUILDING_NOT_FOUND. */
enum err building_of(struct tx *tx, const struct id *account, const struct id *building, bool *ret_linked) CHECKED;

/* A building of the account, in the arena. Fails with ERR_BUILDING_NOT_FOUND. */
enum err building_get(struct tx *tx, const struct id *account, const struct id *building, struct building *ret) CHECKED;

/* The account's buildings by creation time, then ID, in the arena. */
enum err building_list(struct tx *tx, const struct id *account, const struct building **ret, size_t *ret_count) CHECKED;

/* Creates the primary building of an account: label `Home`, no address, no number. */
enum err building_create_primary(struct tx *tx, const struct id *account, struct id *ret) CHECKED;
