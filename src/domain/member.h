/* Invited members of a building. Its owner invites them, or the operator adds them; they sign in on the website
 * (ACCOUNT-8 to ACCOUNT-10, ACCOUNT-38 to ACCOUNT-44). */
#pragma once
#include "domain/key.h"
#include "domain/tx.h"

#define MEMBERS_MAX      20          /* of one building */
#define INVITATIONS_MAX  10          /* of one account and day (UTC) */
#define MEMBER_INVITED_S (7 * 86400) /* for which an invitation can be accepted */

struct member {
    struct id id, building_id, account_id;
    struct str name, email;    /* e-mail in lower case */
    struct str phone;          /* E.164; STR_NONE: not given */
    int64_t phone_verified_us; /* it rings (domain/phone.h); 0: not verified */
    enum member_role role;
    struct str language; /* of mails, one of notice_languages; STR_NONE: not given */
    int64_t created_us;
    int64_t invited_until_us;  /* an invitation that is not accepted ends then; 0: accepted, or added by the operator */
    struct str building_label; /* of member_list and member_of_address only */
};

/* Adds a member, of whom the building, the name, the e-mail, the phone, the role and the language are given. The caller
 * must have validated them. Fails with ERR_BUILDING_NOT_FOUND, ERR_MEMBER_EXISTS (the building has a member with that
 * e-mail), ERR_MEMBER_LIMIT. */
enum err member_create(struct tx *tx, const struct member *m, struct id *ret) CHECKED;
/* The same for the building's owner, whose account must be m->account_id; and queues a mail to the member, who can sign
 * in for the first time within a week. Sets the ID and that end. Also fails with ERR_MEMBER_EXISTS if it is the owner's
 * e-mail, and with ERR_RATE_LIMIT_EXCEEDED. */
enum err member_invite(struct tx *tx, struct member *m) CHECKED;
/* The person signs in as the member: an invitation is accepted, and a mail tells the owner. Fails with ERR_NOT_FOUND if
 * it has ended. */
enum err member_accept(struct tx *tx, const struct member *m) CHECKED;
/* All members of all buildings, in the arena. */
enum err member_list(struct tx *tx, const struct member **ret, size_t *ret_count) CHECKED;
/* The members of one building, oldest first, at most MEMBERS_LISTED, in the arena. */
#define MEMBERS_LISTED 100
enum err member_of_building(struct tx *tx, const struct id *building, const struct member **ret,
                            size_t *ret_count) CHECKED;
/* The scopes of a member's website session. */
uint32_t member_scopes(enum member_role role);
/* The membership that an address (lower case) signs in to, without invitations that have ended, in the arena. Fails
 * with ERR_NOT_FOUND. */
enum err member_first(struct tx *tx, struct str email, struct member *ret) CHECKED;
/* The same for all memberships of an address, with the building's labels, at most MEMBERS_LISTED, in the arena. */
enum err member_of_address(struct tx *tx, struct str email, const struct member **ret, size_t *ret_count) CHECKED;
/* The membership of an address in a building, in the arena. Fails with ERR_NOT_FOUND. */
enum err member_at(struct tx *tx, const struct id *building, struct str email, struct member *ret) CHECKED;
/* All but the building's label, in the arena. Fails with ERR_NOT_FOUND. */
enum err member_get(struct tx *tx, const struct id *member, struct member *ret) CHECKED;
/* Stores the name and the role of a member that was read. Its sessions have both at once; its other keys lose what the
 * role does not have. */
enum err member_change(struct tx *tx, const struct member *m) CHECKED;
/* Removes the member, with its notices and its phone, and revokes its keys. Fails with ERR_NOT_FOUND. */
enum err member_remove(struct tx *tx, const struct id *member) CHECKED;
enum err member_count(struct tx *tx, const struct id *building, int64_t *ret) CHECKED;
