#include "admin/routes.h"

#include "domain/account.h"

const struct route_set *const admin_sets[] = {
    &admin_key_routes,      &admin_member_routes,   &admin_number_routes,    &admin_account_routes,
    &admin_delivery_routes, &admin_checkout_routes, &admin_operation_routes, &admin_job_routes,
    &admin_rekey_routes,    &admin_request_routes,  &admin_call_routes,      &admin_trunk_routes,
    &admin_box_routes,      &admin_greeting_routes, &admin_node_routes,      &admin_health_routes,
    &admin_status_routes,   &admin_phone_routes,    &admin_person_routes,
};
const size_t admin_set_count = sizeof admin_sets / sizeof *admin_sets;

enum err admin_account(struct tx *tx, struct str email, struct id *ret)
{
    enum err e = account_find(tx, email, ret);
    return e == ERR_ACCOUNT_NOT_FOUND ? tx_fail(tx, e, "no account with this e-mail address") : e;
}
