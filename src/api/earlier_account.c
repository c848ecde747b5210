#include "api/earlier_account.h"

#include "api/account.h"
#include "api/checkout.h"
#include "api/checkout_reply.h"
#include "api/operation.h"
#include "api/operation_body.h"
#include "api/plan.h"
#include "domain/plan.h"

#define BILLING .tag = "Billing", .scopes = SCOPE(BILLING_WRITE), .limit = LIMIT_KEY, .handler_data = plan_names_earlier
#define CHECKOUT                                                                                                       \
    BILLING, .path = "/v1/billing/checkout", .reply = &checkout_shape, .store_error = ERR_CHECKOUT_UNAVAILABLE

const struct route earlier_account_rows[EARLIER_ACCOUNT_ROWS] = {
    [EARLIER_GET_ACCOUNT] = {.operation_id = "earlierGetAccount",
                             .summary = "The account and its next actions",
                             .tag = "Account",
                             .method = HTTP_GET,
                             .path = "/v1/account",
                             .credential = CRED_KEY,
                             .scopes = SCOPE(ACCOUNT_READ),
                             .limit = LIMIT_KEY,
                             .run = RUN_READ,
                             .handler = account_show,
                             .handler_data = plan_types_earlier,
                             .status = 200,
                             .reply = &account_shape,
                             .store_error = ERR_FETCH_FAILED},
    [EARLIER_LIST_PLANS] = {.operation_id = "earlierListBillingPlans",
                            .summary = "The available plans, for a signed-in customer",
                            BILLING,
                            .method = HTTP_GET,
                            .path = "/v1/billing/plans",
                            .credential = CRED_KEY,
                            .run = RUN_READ,
                            .handler = plan_list,
                            .status = 200,
                            .reply = &plans_shape},
    [EARLIER_GET_CHECKOUT] = {.operation_id = "earlierGetCheckout",
                              .summary = "The latest checkout",
                              CHECKOUT,
                              .method = HTTP_GET,
                              .credential = CRED_KEY,
                              .run = RUN_READ,
                              .handler = checkout_show,
                              .status = 200},
    [EARLIER_CREATE_CHECKOUT] = {.operation_id = "earlierCreateCheckout",
                                 .summary = "Start a checkout for a subscription",
                                 CHECKOUT,
                                 .method = HTTP_POST,
                                 .credential = CRED_PARENT,
                                 .parent_error = ERR_PARENT_BILLING_REQUIRED,
                                 .idempotency = NEED_REQUIRED,
                                 .receipt = checkout_receipt,
                                 .body = &checkout_input_shape,
                                 .body_error = ERR_INVALID_PLAN,
                                 .run = RUN_BLOCKING,
                                 .handler = checkout_create,
                                 .status = 201,
                                 .other_status = 200},
    [EARLIER_PREVIEW_BUILDING] = {.operation_id = "earlierPreviewBuilding",
                                  .summary = "Quote the addition or removal of a linked building",
                                  .tag = "Buildings",
                                  .method = HTTP_POST,
                                  .path = "/v1/buildings/preview",
                                  .credential = CRED_PARENT,
                                  .parent_error = ERR_PARENT_BUILDING_KEY_REQUIRED,
                                  .scopes = SCOPE(ACCOUNT_READ) | SCOPE(BUILDINGS_WRITE),
                                  .limit = LIMIT_KEY,
                                  .building = BUILDING_FORBIDDEN,
                                  .body = &building_preview_earlier_shape,
                                  .body_error = ERR_INVALID_BUILDING_INPUT,
                                  .run = RUN_BLOCKING,
                                  .handler = operation_preview,
                                  .status = 201,
                                  .reply = &building_operation_shape},
};
