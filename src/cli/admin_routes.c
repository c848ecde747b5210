#include "cli/admin_routes.h"

const struct route_set *const admin_sets[] = {
    &admin_key_routes,      &admin_member_routes,   &admin_number_routes,    &admin_account_routes,
    &admin_delivery_routes, &admin_checkout_routes, &admin_operation_routes, &admin_job_routes,
};
const size_t admin_set_count = sizeof admin_sets / sizeof *admin_sets;
