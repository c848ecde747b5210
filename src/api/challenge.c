#include "api/challenge.h"

#include "api/door.h"
#include "api/gate.h"
#include "api/scopes.h"
#include "domain/key.h"

bool challenge_widens(const struct request *q)
{
    const uint32_t missing = q->route ? gate_scopes(q) & ~q->who.scopes : 0;
    return q->result == ERR_INSUFFICIENT_SCOPE && missing && !(missing & ~key_scopes_current.issuable);
}

/* Parameters for clients of the Model Context Protocol: where to learn how to get a key, and the scopes to ask for. */
static void put_begin(const struct request *q, uint32_t scopes, struct buf *head)
{
    const struct str words = scope_words(q->tx.arena, scopes);
    const struct str address = q->door->metadata ? q->door->metadata(q) : STR_NONE;
    if (address.p)
        buf_printf(head, "resource_metadata=\"%.*s\", ", STR_ARG(address));
    buf_printf(head, "scope=\"%.*s\"", STR_ARG(words));
}

/* A request without a key gets no error. */
static void put_key_challenge(const struct request *q, enum err e, struct buf *head)
{
    buf_lit(head, "WWW-Authenticate: Bearer");
    if (q->door->metadata) {
        buf_str(head, e == ERR_AUTH_REQUIRED ? STR(" ") : STR(" error=\"invalid_token\", "));
        put_begin(q, key_scopes_current.standard, head);
    }
    buf_lit(head, "\r\n");
}

/* With the scopes of the key: a client that asks for exactly the scopes of the challenge must not lose them. */
static void put_scope_challenge(const struct request *q, struct buf *head)
{
    buf_lit(head, "WWW-Authenticate: Bearer error=\"insufficient_scope\", ");
    put_begin(q, (gate_scopes(q) | q->who.scopes) & key_scopes_current.issuable, head);
    buf_lit(head, "\r\n");
}

void challenge_put(const struct request *q, enum err e, struct buf *head)
{
    if (err_info(e)->status == 401)
        put_key_challenge(q, e, head);
    else if (challenge_widens(q))
        put_scope_challenge(q, head);
}
