/* Explains a call that may come: the decision as domain/access.h would take it, and the part of each grant in it. Uses
 * nothing up and writes nothing (CALL-13). The time is tx->now_us, which may be any. */
#pragma once
#include "domain/access.h"
#include "domain/grant.h"

#define EXPLAIN_GRANTS_MAX 50    /* grants that are named */
#define EXPLAIN_COUNT_MAX  10000 /* grants that are counted */

/* The part of a grant in the decision. */
enum explain_part {
    EXPLAIN_OPENS,
    EXPLAIN_COMES_LATER,   /* usable, but another grant opens first */
    EXPLAIN_NEEDS_CODE,    /* opens after its code */
    EXPLAIN_WRONG_DIGITS,  /* usable, with another code than the digits */
    EXPLAIN_KEYPAD_CLOSED, /* usable, but the guard refuses codes from this caller's group */
    EXPLAIN_NOT_ASKED,     /* usable, but this call is decided without grants: the decision's reason says why */
    EXPLAIN_SWITCHED_OFF,  /* the rest: not usable, as enum access_why */
    EXPLAIN_USED_UP,
    EXPLAIN_EXPIRED,
    EXPLAIN_NOT_BEGUN,
    EXPLAIN_OUTSIDE_WINDOW
};
extern const char *const explain_part_names[];    /* "opens" …, NULL-terminated */
extern const char *const explain_verdict_names[]; /* of enum access_verdict: "release" …, NULL-terminated */

struct explained_grant {
    struct id id;
    enum grant_type type;
    struct str label;
    enum explain_part part;
    int64_t next_us; /* when a timer or a routine's window begins next; 0: not known, or not the point */
};

/* The result of digits that are no usable grant's code. */
enum explain_code {
    EXPLAIN_CODE_SWITCHED_OFF = NEAR_SWITCHED_OFF, /* the code of a grant that is not usable, as enum access_why */
    EXPLAIN_CODE_USED_UP = NEAR_USED_UP,
    EXPLAIN_CODE_EXPIRED = NEAR_EXPIRED,
    EXPLAIN_CODE_NOT_BEGUN = NEAR_NOT_BEGUN,
    EXPLAIN_CODE_OUTSIDE_WINDOW = NEAR_OUTSIDE_WINDOW,
    EXPLAIN_CODE_REVOKED = NEAR_REVOKED,
    EXPLAIN_CODE_WRONG /* no grant has it */
};
extern const char *const explain_code_names[]; /* NULL-terminated */

struct explained_code {
    enum explain_code result;
    struct id grant_id; /* empty, as the label: wrong */
    struct str grant_label;
};

struct explanation {
    struct access_decision decision;      /* REJECT with ACCESS_UNKNOWN_NUMBER: the building has no number */
    bool known_caller;                    /* the group that the caller belongs to for the guard */
    int64_t keypad_closed_until_us;       /* for that group; 0: open */
    const struct explained_code *code;    /* NULL: no digits, or a usable grant has them */
    const struct explained_grant *grants; /* not revoked, newest first */
    size_t count;
    int64_t more; /* grants that are not named, up to EXPLAIN_COUNT_MAX */
};

struct explain_query {
    struct id building;
    struct str from;   /* STR_NONE: no number */
    struct str digits; /* pressed once a code is asked for; STR_NONE: none */
};

/* Fails with ERR_BUILDING_NOT_FOUND. */
enum err access_explain(struct tx *tx, const struct explain_query *query, struct explanation *ret) CHECKED;
