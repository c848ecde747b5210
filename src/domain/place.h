/* The places of a person: the buildings of the account with their address, and those that the address is a member of. A
 * browser is signed in to one account or membership at a time, and switches without another code: the address is the
 * proof, and is looked up again each time (KEY-34, KEY-35).
 *
 * All are for the principal of a website session, and fail with ERR_INVALID_KEY if its member is removed. */
#pragma once
#include "domain/building.h"
#include "domain/member.h"
#include "domain/tx.h"

struct places {
    struct str email;
    bool can_create;                  /* there is no account, and place_own makes one */
    const struct building *buildings; /* of the account */
    size_t building_count;
    const struct member *members; /* with the labels of their buildings */
    size_t member_count;
};
/* In the arena. */
enum err place_list(struct tx *tx, const struct principal *who, struct places *ret) CHECKED;
/* The key for a building of the person's, for browser_switch. Fails with ERR_NOT_FOUND. */
enum err place_switch(struct tx *tx, const struct principal *who, const struct id *building,
                      struct key_options *ret) CHECKED;
/* The same for an account of the person's own, which is made if there is none. Fails with ERR_NOT_FOUND if only listed
 * addresses have one. */
enum err place_own(struct tx *tx, const struct principal *who, struct key_options *ret) CHECKED;
/* Ends the person's sessions as a member, wherever. */
enum err place_end_visits(struct tx *tx, const struct principal *who) CHECKED;
/* Ends all website sessions of the person, as an owner and as a member, so that no browser can switch back. */
enum err place_end_sessions(struct tx *tx, const struct principal *who) CHECKED;
