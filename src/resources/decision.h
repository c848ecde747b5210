/* The explanation of a decision, shared with the operator's route. */
#pragma once
#include "api/request.h"
#include "base/forms.h"
#include "domain/access_explain.h"

struct decision_query {
    struct val building_id; /* of the operator's query */
    struct val at, digits, from;
};
/* Their fields, for a query's table; their errors are INVALID_DATE and INVALID_FILTER. */
#define DECISION_QUERY(member, type, ...) FIELD(struct decision_query, member, type, __VA_ARGS__)
#define DECISION_QUERY_FIELDS                                                                                          \
    DECISION_QUERY(at, T_TIME, .error = ERR_INVALID_DATE, .doc = "the time of the call; default: now"),                \
        DECISION_QUERY(digits, T_STRING, FORM("^[0-9]{1,8}$", "one to eight digits"), .error = ERR_INVALID_FILTER,     \
                       .flags = F_SECRET, .doc = "the code that the caller enters"),                                   \
        DECISION_QUERY(from, T_STRING, CALLER_FORM, .error = ERR_INVALID_FILTER,                                       \
                       .doc = "the caller's number; + is sent as %2B. Default: withheld")

extern const struct shape decision_shape;

/* Explains a call to the building. *ret has decision_shape. */
enum err decision_body(struct tx *tx, const struct id *building, const struct decision_query *query,
                       const void **ret) CHECKED;
/* Of struct route. */
bool decision_lengthy(const void *query);
