/* Invited members of a building: the operator adds them; they cannot sign in by e-mail (decisions section 3). */
#pragma once
#include "domain/key.h"
#include "domain/tx.h"

struct member {
    struct id id, building_id, account_id;
    struct str name, email; /* e-mail in lower case */
    struct str phone;       /* E.164, STR_NONE without one */
    int64_t created_us;
    struct str building_label; /* member_list only */
};

/* The caller has validated the fields. ERR_BUILDING_NOT_FOUND; ERR_BAD_REQUEST: the building has a member of that
 * e-mail. */
enum err member_create(struct tx *tx, const struct id *building, struct str name, struct str email, struct str phone,
                       struct id *ret) CHECKED;
/* Every member of every building, in the arena. */
enum err member_list(struct tx *tx, const struct member **ret, size_t *ret_count) CHECKED;
/* ERR_NOT_FOUND. Fills the IDs alone. */
enum err member_get(struct tx *tx, const struct id *member, struct member *ret) CHECKED;
/* Removes the member and revokes its keys. ERR_NOT_FOUND. */
enum err member_remove(struct tx *tx, const struct id *member) CHECKED;
enum err member_count(struct tx *tx, const struct id *building, int64_t *ret) CHECKED;
