/* Ways in: the API, the operator's socket, the website (api/door_site.h), assistants (mcp/call.h). A door says which
 * rows a request can reach by it, finds its credential and the values that HTTP has in headers, and puts the reply into
 * the form of its protocol. Other differences between requests are columns of their rows. */
#pragma once
#include "api/route.h"

/* Values that HTTP has in headers. */
enum door_value { DOOR_BUILDING, DOOR_IDEMPOTENCY_KEY, DOOR_MATCH, DOOR_VALUES };

struct door {
    const char *prefix; /* of paths, which the rows lack; "": none */
    const char *via;    /* in the log of requests */
    /* The next action for a sender without a credential that is good; NULL: the error's. */
    const char *sign_in;
    bool earlier;                             /* accounts of the earlier revision have its rows */
    bool (*opens)(const struct route *route); /* the rows that a path can lead to */

    /* The hash by which the credential is stored. Fails with ERR_AUTH_REQUIRED or ERR_INVALID_KEY. */
    enum err (*key_hash)(struct request *q, unsigned char ret[static SHA256_LEN]);
    /* Called if the store refused the credential, in the same transaction: the error to reply. NULL: ERR_INVALID_KEY.
     */
    enum err (*refused)(struct request *q);
    /* Called on the loop thread after checks that failed. True: the request runs again, and `posted` comes before that
     * (api/door_site.h). NULL: never. */
    bool (*again)(struct request *q, void (*posted)(struct mail *mail));

    /* The first value of that kind, and how many there are. In the request's transaction. */
    enum err (*value)(struct request *q, enum door_value which, struct str *ret, size_t *ret_count);
    /* Fills the struct of the route's query. False with the fault of a parameter. */
    bool (*query)(struct request *q, void *ret, struct schema_fault *ret_fault);
    /* The values of the body, an object, which the caller releases. */
    enum err (*body)(struct request *q, json_t **ret);
    /* The bits of the scopes that reading the values needs. NULL: none. */
    uint32_t (*scopes)(const struct request *q);

    /* Header lines of every reply. NULL: none. */
    void (*put_head)(struct request *q, struct buf *head);
    /* Puts a reply into a message of the protocol: `json` is the rendered body, empty without one, and `status` the
     * reply's. Returns the HTTP status of the message, or 0 if the reply must go out as it is. Loop thread. NULL: all
     * go out as they are. */
    int (*frame)(struct request *q, int status, struct str json, struct buf *out);
    /* The address for clients without a key, in WWW-Authenticate. NULL: none. */
    struct str (*metadata)(const struct request *q);
};

extern const struct door door_api, door_control;

/* The operations of the API's door, for doors that share some. */
enum err door_bearer(struct request *q, unsigned char ret[static SHA256_LEN]) CHECKED;
enum err door_header(struct request *q, enum door_value which, struct str *ret, size_t *ret_count) CHECKED;
bool door_query(struct request *q, void *ret, struct schema_fault *ret_fault);
enum err door_body(struct request *q, json_t **ret) CHECKED;
