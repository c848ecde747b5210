#include "resources/earlier_account.h"

#include "billing/plan.h"
#include "resources/account.h"
#include "resources/checkout.h"
#include "resources/checkout_reply.h"
#include "resources/operation.h"
#include "resources/operation_body.h"
#include "resources/plan.h"

#define BILLING  .scopes = SCOPE(BILLING_WRITE), .limit = LIMIT_KEY, .handler_data = plan_names_earlier
#define CHECKOUT BILLING, .reply = &checkout_shape, .store_error = ERR_CHECKOUT_UNAVAILABLE

const struct route earlier_account_rows[EARLIER_ACCOUNT_ROWS] = {
    [EARLIER_GET_ACCOUNT] =
        ROUTE("earlierGetAccount", GET, "/v1/account", .credential = CRED_KEY, .people = PEOPLE_ALL,
              .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .run = RUN_READ, .handler = account_show,
              .handler_data = plan_types_earlier, .reply = &account_shape, .store_error = ERR_FETCH_FAILED,
              .doc = ROUTE_DOC("Account", 200, "The account and its next actions")),
    [EARLIER_LIST_PLANS] = ROUTE("earlierListBillingPlans", GET, "/v1/billing/plans", BILLING, .credential = CRED_KEY,
                                 .run = RUN_READ, .handler = plan_list, .reply = &plans_shape,
                                 .doc = ROUTE_DOC("Billing", 200, "The available plans, for a signed-in customer")),
    [EARLIER_GET_CHECKOUT] =
        ROUTE("earlierGetCheckout", GET, "/v1/billing/checkout", CHECKOUT, .credential = CRED_KEY, .run = RUN_READ,
              .handler = checkout_show, .doc = ROUTE_DOC("Billing", 200, "The latest checkout")),
    [EARLIER_CREATE_CHECKOUT] = ROUTE(
        "earlierCreateCheckout", POST, "/v1/billing/checkout", CHECKOUT, .credential = CRED_PARENT,
        .parent_error = ERR_PARENT_BILLING_REQUIRED, .idempotency = NEED_REQUIRED, .receipt = checkout_receipt,
        .body = &checkout_input_shape, .body_error = ERR_INVALID_PLAN, .run = RUN_BLOCKING, .handler = checkout_create,
        .doc = ROUTE_DOC("Billing", 201, "Start a checkout for a subscription", .other_status = 200)),
    [EARLIER_PREVIEW_BUILDING] =
        ROUTE("earlierPreviewBuilding", POST, "/v1/buildings/preview", .credential = CRED_PARENT,
              .parent_error = ERR_PARENT_BUILDING_KEY_REQUIRED, .scopes = SCOPE(ACCOUNT_READ) | SCOPE(BUILDINGS_WRITE),
              .limit = LIMIT_KEY, .building = BUILDING_FORBIDDEN, .body = &building_preview_earlier_shape,
              .body_error = ERR_INVALID_BUILDING_INPUT, .run = RUN_BLOCKING, .handler = operation_preview,
              .reply = &building_operation_shape,
              .doc = ROUTE_DOC("Buildings", 201, "Quote the addition or removal of a linked building")),
};
