/* The operations of the interface as the command line knows them. src/operations.c writes the rows from the service's
 * routes and fields while the program is built, so that it needs nothing of the service. */
#pragma once
#include "base/schema.h"

enum operation_match { OPERATION_MATCH_NONE, OPERATION_MATCH_GRANT, OPERATION_MATCH_SETTINGS };

struct operation_row {
    const char *id;   /* "createUnlock"; NULL: after the last */
    const char *name; /* words of the command, "unlock create" */
    const char *summary;
    const char *method, *path; /* "POST", "/v1/unlock/{id}" */
    const char *media;         /* of an answer that is not JSON; NULL: none */
    const struct shape *query, *body;
    enum operation_match match; /* the form of If-Match */
    bool body_optional;
    bool building;    /* X-Service-Building-Id chooses */
    bool idempotency; /* takes an Idempotency-Key */
    bool json;        /* the answer */
    bool address;     /* the answer is only an address, as a redirect */
    bool open;        /* needs no key */
};

extern const struct operation_row operation_rows[];
