/* The principal of a request: its key and account, as the gate found them. */
#pragma once
#include "base/id.h"

enum scope {
#define S(symbol, text, issued) SCOPE_BIT_##symbol,
#include "tbl/scopes.def"
#undef S
    SCOPE_COUNT
};
#define SCOPE(symbol) (1u << SCOPE_BIT_##symbol)

enum scope_issue {
    SCOPE_ISSUED_NEVER,
    SCOPE_ISSUED_ALWAYS,
    SCOPE_ISSUED_CURRENT, /* not in accounts of the earlier revision, which stays as it is */
    SCOPE_ISSUED_EARLIER, /* in accounts of the earlier revision alone; the current one does not have it */
    SCOPE_ISSUED_OWNER    /* marks the owner's credential there, which has all the others that can be issued */
};

/* The scopes of the current revision. */
enum scope_current {
    SCOPE_CURRENT = 0
#define S(symbol, text, issued) | (SCOPE_ISSUED_##issued <= SCOPE_ISSUED_CURRENT ? SCOPE(symbol) : 0)
#include "tbl/scopes.def"
#undef S
};

/* The text of one scope bit, "access:read". */
const char *scope_text(enum scope bit);

/* The roles of members, as stored. */
enum member_role {
    MEMBER_RESIDENT, /* all but the owner's own */
    MEMBER_MANAGER,  /* of codes: neither answers calls nor opens the door */
    MEMBER_ROLES
};
extern const char *const member_role_names[MEMBER_ROLES + 1]; /* NULL-terminated */
/* Also of a role that a later program stored: "manager", who may least. */
struct str member_role_text(enum member_role role);

struct principal {
    struct id key_id, account_id;
    struct id building_id;   /* of a key bound to one building; else empty */
    struct id member_id;     /* of a member's key; else empty */
    struct id primary_id;    /* the account's primary building */
    int64_t building_number; /* of building_id, else of primary_id, in grant_building; 0: not assigned yet */
    uint32_t building_count; /* of the account */
    uint32_t scopes;         /* bits: SCOPE(ACCESS_READ) … */
    bool web_session;
    bool subscribed;           /* the account's subscription is active (not past_due) */
    bool earlier_revision;     /* the account is served the earlier revision of the interface */
    int64_t expires_at_us;     /* INT64_MAX: never */
    int64_t last_used_us;      /* to the minute, as stored; 0: never */
    int64_t buildings_version; /* changes whenever the account's buildings do (PostgreSQL) */
};

/* A website session of an invited member. */
static inline bool principal_visits(const struct principal *who)
{
    return who->web_session && id_given(&who->member_id);
}

/* The role of such a session: a resident's alone has calls:listen (member_scopes). */
static inline enum member_role principal_role(const struct principal *who)
{
    return who->scopes & SCOPE(CALLS_LISTEN) ? MEMBER_RESIDENT : MEMBER_MANAGER;
}
