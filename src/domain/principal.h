/* Who asks: the key a request came with, and what the gate found out about its account. */
#pragma once
#include "base/id.h"

enum scope {
#define S(symbol, text, issuable) SCOPE_BIT_##symbol,
#include "tbl/scopes.def"
#undef S
    SCOPE_COUNT
};
#define SCOPE(symbol) (1u << SCOPE_BIT_##symbol)

struct principal {
    struct id key_id, account_id;
    struct id building_id; /* a child or member key's one building; else empty */
    struct id member_id;   /* a member's key; else empty */
    uint32_t scopes;
    bool web_session;
    bool subscribed;       /* the account's subscription is active */
    int64_t expires_at_us; /* INT64_MAX: never */
};
