/* The operations of `porterod admin`, served on the control socket only. */
#pragma once
#include "api/route.h"

extern const struct route_set *const admin_sets[];
extern const size_t admin_set_count;

extern const struct route_set admin_key_routes, admin_member_routes, admin_number_routes, admin_account_routes,
    admin_delivery_routes, admin_checkout_routes, admin_operation_routes, admin_job_routes, admin_rekey_routes,
    admin_request_routes, admin_call_routes, admin_trunk_routes, admin_box_routes, admin_greeting_routes,
    admin_node_routes, admin_health_routes, admin_status_routes, admin_phone_routes, admin_person_routes;

/* Finds the account of an e-mail address. Fails with ERR_ACCOUNT_NOT_FOUND, with a message. */
enum err admin_account(struct tx *tx, struct str email, struct id *ret) CHECKED;

/* The ID in a value that a schema has checked; empty if not given. */
static inline struct id admin_id(struct val v)
{
    struct id id = {{0}};
    if (v_set(v) && !id_parse(v.s, &id))
        id.text[0] = '\0';
    return id;
}
static inline struct val admin_id_val(const struct id *id)
{
    return v_str(id_str(id));
}
