#include "api/earlier_keys.h"

#include "api/key.h"
#include "api/scopes.h"
#include "domain/key.h"

static const struct field key_fields[] = {KEY_REQUEST_FIELDS(
    scope_values_earlier, SCOPE_COUNT, "account:read, access:read, access:write, logs:read, webhooks:write")};
static const struct shape key_shape = SHAPE(struct key_request, "EarlierKeyRequest", key_fields);

const struct route earlier_key_rows[EARLIER_KEY_ROWS] = {
    [EARLIER_CREATE_KEY] = {.operation_id = "earlierCreateKey",
                            .summary = "Create an agent key",
                            .tag = "Sign-in and keys",
                            .method = HTTP_POST,
                            .path = "/v1/auth/keys",
                            .credential = CRED_WEB_SESSION,
                            .scopes = SCOPE(KEYS_WRITE),
                            .limit = LIMIT_AUTH,
                            .body = &key_shape,
                            .body_error = ERR_INVALID_KEY_OPTIONS,
                            .run = RUN_WRITE,
                            .handler = key_post,
                            .handler_data = &key_scopes_earlier,
                            .status = 201,
                            .reply = &agent_credential_shape,
                            .flags = ROUTE_RECHECKS_KEY,
                            .store_error = ERR_CREATE_FAILED},
};
