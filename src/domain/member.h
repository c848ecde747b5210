/* Invited members of a building. The operator adds them; they sign in on the website (ACCOUNT-8 to ACCOUNT-10). */
#pragma once
#include "domain/key.h"
#include "domain/tx.h"

struct member {
    struct id id, building_id, account_id;
    struct str name, email; /* e-mail in lower case */
    struct str phone;       /* E.164; STR_NONE: not given */
    int64_t created_us;
    struct str building_label; /* of member_list only */
};

/* Adds a member. The caller must have validated the fields. Fails with ERR_BUILDING_NOT_FOUND, ERR_BAD_REQUEST (the
 * building has a member with that e-mail). */
enum err member_create(struct tx *tx, const struct id *building, struct str name, struct str email, struct str phone,
                       struct id *ret) CHECKED;
/* All members of all buildings, in the arena. */
enum err member_list(struct tx *tx, const struct member **ret, size_t *ret_count) CHECKED;
/* The scopes of a member's website session. */
uint32_t member_scopes(enum member_role role);
/* The membership that an address (lower case) signs in to: sets only the IDs and the name of *ret, in the arena.
 * Fails with ERR_NOT_FOUND. */
enum err member_first(struct tx *tx, struct str email, struct member *ret) CHECKED;
/* All but the building's label, in the arena. Fails with ERR_NOT_FOUND. */
enum err member_get(struct tx *tx, const struct id *member, struct member *ret) CHECKED;
/* Removes the member and revokes its keys. Fails with ERR_NOT_FOUND. */
enum err member_remove(struct tx *tx, const struct id *member) CHECKED;
enum err member_count(struct tx *tx, const struct id *building, int64_t *ret) CHECKED;
