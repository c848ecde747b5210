#include "api/routes.h"

#include "domain/session.h"

#define OTP_PATTERN "^[0-9]{6}$"

/* ---- bodies ---- */

struct otp_request {
    struct val email;
};
static const struct field otp_request_fields[] = {
    FIELD(struct otp_request, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email", .max = 254,
          .error = ERR_INVALID_EMAIL, .doc = "the address that signs in"),
};
static const struct shape otp_request_shape = SHAPE(struct otp_request, "OtpRequest", otp_request_fields, .open = true);

struct otp_challenge {
    struct val challenge, message;
};
static const struct field otp_challenge_fields[] = {
    FIELD(struct otp_challenge, challenge, T_STRING, .flags = F_REQUIRED | F_SECRET,
          .doc = "send it back with the code; valid once, for 15 minutes"),
    FIELD(struct otp_challenge, message, T_STRING, .flags = F_REQUIRED),
};
static const struct shape otp_challenge_shape = SHAPE(struct otp_challenge, "OtpChallenge", otp_challenge_fields);

struct verify_request {
    struct val email, purpose, challenge, otp;
};
static const char *const web_only[] = {"web", NULL};
static const struct field verify_request_fields[] = {
    FIELD(struct verify_request, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email", .max = 254,
          .error = ERR_INVALID_EMAIL, .doc = "the address that requested the challenge"),
    FIELD(struct verify_request, purpose, T_STRING, .flags = F_REQUIRED | F_CONST, .values = web_only,
          .error = ERR_WEBSITE_SIGN_IN_REQUIRED),
    FIELD(struct verify_request, challenge, T_STRING, .flags = F_REQUIRED | F_SECRET, .error = ERR_INVALID_OTP),
    /* A malformed code counts as a wrong one and uses up an attempt. */
    FIELD(struct verify_request, otp, T_STRING, .flags = F_REQUIRED | F_SECRET | F_UNCHECKED, .pattern = OTP_PATTERN,
          .error = ERR_INVALID_OTP, .doc = "the six-digit code from the e-mail"),
};
static const struct shape verify_request_shape =
    SHAPE(struct verify_request, "VerifyRequest", verify_request_fields, .open = true);

struct session_credential {
    struct val apiKey, keyPrefix, name; /* spelled as in the contract */
};
static const struct field session_credential_fields[] = {
    FIELD(struct session_credential, apiKey, T_STRING, .flags = F_REQUIRED | F_SECRET,
          .doc = "key of the website session, valid for 12 hours; shown once"),
    FIELD(struct session_credential, keyPrefix, T_STRING, .flags = F_REQUIRED),
    FIELD(struct session_credential, name, T_STRING, .flags = F_REQUIRED),
};
static const struct shape session_credential_shape =
    SHAPE(struct session_credential, "SessionCredential", session_credential_fields);

/* ---- handlers ---- */

static enum err post_otp(struct request *q, struct reply *p)
{
    const struct otp_request *body = q->body;
    struct challenge challenge;
    enum err e = session_challenge(&q->tx, body->email.s, &challenge);
    if (e)
        return e;
    struct otp_challenge *r = arena_new(q->tx.arena, struct otp_challenge);
    r->challenge = v_str(arena_str(q->tx.arena, str_z(challenge.id)));
    r->message = v_str(STR("A six-digit code was sent to this address. It is valid for 15 minutes."));
    return reply_ok(p, 200, &otp_challenge_shape, r);
}

static enum err post_verify(struct request *q, struct reply *p)
{
    const struct verify_request *body = q->body;
    struct key_issued key;
    enum err e = session_verify(&q->tx, body->email.s, body->challenge.s, body->otp.s, &key);
    if (e == ERR_INVALID_OTP)
        return reply_error_keep(p, e);
    if (e)
        return e;
    struct session_credential *r = arena_new(q->tx.arena, struct session_credential);
    r->apiKey = v_str(arena_str(q->tx.arena, str_z(key.text)));
    r->keyPrefix = v_str(arena_str(q->tx.arena, str_z(key.prefix)));
    r->name = v_str(STR(SESSION_NAME));
    crypto_wipe(&key, sizeof key);
    return reply_ok(p, 200, &session_credential_shape, r);
}

static const struct route rows[] = {
    {.operation_id = "requestOtp",
     .summary = "Send a sign-in code by e-mail",
     .description = "The response is the same whether or not the address has an account. The code in the mail works "
                    "only with the returned `challenge`: once, within 15 minutes, with at most five attempts. An "
                    "address can have three open challenges.",
     .tag = "Sign-in and keys",
     .method = HTTP_POST,
     .path = "/v1/auth/otp",
     .credential = CRED_NONE,
     .limit = LIMIT_OTP,
     .body = &otp_request_shape,
     .body_error = ERR_INVALID_JSON,
     .body_example = "{\"email\": \"resident@example.com\"}",
     .run = RUN_WRITE,
     .handler = post_otp,
     .status = 200,
     .reply = &otp_challenge_shape,
     .errors = ROUTE_ERRORS(ERR_LINKED_ACCOUNT)},
    {.operation_id = "verifyOtp",
     .summary = "Exchange a sign-in code for a website session",
     .description = "Returns the key of a website session once. It is valid for 12 hours; keep it on the website's "
                    "server. The first sign-in creates the account.",
     .tag = "Sign-in and keys",
     .method = HTTP_POST,
     .path = "/v1/auth/verify",
     .credential = CRED_NONE,
     .limit = LIMIT_AUTH,
     .body = &verify_request_shape,
     .body_error = ERR_INVALID_JSON,
     .body_example = "{\"email\": \"resident@example.com\", \"challenge\": \"chl_0123456789abcdef0123456789abcdef\", "
                     "\"otp\": \"123456\", \"purpose\": \"web\"}",
     .run = RUN_WRITE,
     .handler = post_verify,
     .status = 200,
     .reply = &session_credential_shape,
     .errors = ROUTE_ERRORS(ERR_LINKED_ACCOUNT)},
};
const struct route_set auth_routes = ROUTE_SET(rows);
