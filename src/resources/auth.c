#include "resources/auth.h"

#include "base/log.h"
#include "domain/session.h"
#include "resources/earlier_keys.h"
#include "resources/routes.h"
#include "resources/sign_in.h"

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

const char *const verify_purposes[] = {"web", NULL};
static const struct field verify_request_fields[] = {VERIFY_FIELDS(F_REQUIRED | F_CONST)};
static const struct shape verify_request_shape =
    SHAPE(struct verify_request, "VerifyRequest", verify_request_fields, .open = true);

static const struct field browser_sign_in_fields[] = {
    VERIFY_FIELDS(F_REQUIRED | F_CONST),
    FIELD(struct verify_request, remember, T_BOOL, .doc = "default: false"),
    FIELD(struct verify_request, timezone, T_STRING, .max = 64, .doc = SIGN_IN_ZONE_DOC),
};
static const struct shape browser_sign_in_shape =
    SHAPE(struct verify_request, "BrowserSignIn", browser_sign_in_fields, .open = true);

struct browser_session {
    struct val id, remembered, ends_at;
};
static const struct field browser_session_fields[] = {
    FIELD(struct browser_session, id, T_ID, .flags = F_REQUIRED, .doc = "the browser's, see GET /app/v1/browsers"),
    FIELD(struct browser_session, remembered, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct browser_session, ends_at, T_TIME, .flags = F_REQUIRED,
          .doc = "end of the session; if it is remembered, 30 days after its last use"),
};
static const struct shape browser_session_shape =
    SHAPE(struct browser_session, "BrowserSession", browser_session_fields);

struct session_credential {
    struct val apiKey, keyPrefix, name; /* spelled as in the contract */
};
static const struct field session_credential_fields[] = {
    FIELD(struct session_credential, apiKey, T_STRING, .flags = F_REQUIRED | F_SECRET,
          .doc = "key of the website session, valid for 12 hours; shown once"),
    FIELD(struct session_credential, keyPrefix, T_STRING, .flags = F_REQUIRED),
    FIELD(struct session_credential, name, T_STRING, .flags = F_REQUIRED),
};
const struct shape session_credential_shape =
    SHAPE(struct session_credential, "SessionCredential", session_credential_fields);

/* ---- handlers ---- */

/* The operator can tell who was refused; the address is not in the log. */
static void log_not_mailed(const struct request *q, struct str email)
{
    struct str domain;
    (void)str_cut(email, '@', &domain);
    log_info("sign_in address=%.1s***@%.*s result=not_listed request=%s", email.p, STR_ARG(domain), q->request_id);
}

static enum err post_otp(struct request *q, struct reply *p)
{
    const struct otp_request *body = q->body;
    struct challenge challenge;
    enum err e = q->route->flags & ROUTE_SITE_ONLY ? session_challenge_site(&q->tx, body->email.s, &challenge)
                                                   : session_challenge(&q->tx, body->email.s, &challenge);
    if (e)
        return e;
    if (!challenge.mailed)
        log_not_mailed(q, body->email.s);
    struct otp_challenge *r = arena_new(q->tx.arena, struct otp_challenge);
    r->challenge = v_str(arena_str(q->tx.arena, str_z(challenge.id)));
    r->message = v_str(STR("A six-digit code was sent to this address. It is valid for 15 minutes."));
    return reply_ok(p, 200, &otp_challenge_shape, r);
}

enum err reply_credential(struct request *q, struct reply *p, struct key_issued *key, const char *name)
{
    struct session_credential *r = arena_new(q->tx.arena, struct session_credential);
    r->apiKey = v_str(arena_str(q->tx.arena, str_z(key->text)));
    r->keyPrefix = v_str(arena_str(q->tx.arena, str_z(key->prefix)));
    r->name = v_str(str_z(name));
    crypto_wipe(key, sizeof *key);
    return reply_ok(p, 200, &session_credential_shape, r);
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
    return reply_credential(q, p, &key, SESSION_NAME);
}

static enum err reply_signed_in(struct request *q, const struct key_options *key, struct reply *p)
{
    const struct verify_request *body = q->body;
    const bool remember = v_given(body->remember) && body->remember.b;
    struct browser_issued browser;
    enum err e = sign_in_browser(q, key, body->timezone, remember, p, &browser);
    if (e)
        return e;
    struct browser_session *r = arena_new(q->tx.arena, struct browser_session);
    r->id = v_str(arena_str(q->tx.arena, id_str(&browser.id)));
    r->remembered = v_bool(remember);
    r->ends_at = v_time(browser.ends_at_us);
    crypto_wipe(&browser, sizeof browser);
    return reply_ok(p, 200, &browser_session_shape, r);
}

static enum err post_sign_in(struct request *q, struct reply *p)
{
    const struct verify_request *body = q->body;
    struct key_options key;
    enum err e = session_admit(&q->tx, body->email.s, body->challenge.s, body->otp.s, &key);
    if (e == ERR_INVALID_OTP)
        return reply_error_keep(p, e);
    return e ? e : reply_signed_in(q, &key, p);
}

static const struct route rows[] = {
    ROUTE("requestOtp", POST, "/v1/auth/otp", .credential = CRED_NONE, .limit = LIMIT_OTP, .body = &otp_request_shape,
          .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_otp, .reply = &otp_challenge_shape,
          .doc = ROUTE_DOC(
              "Sign-in and keys", 200, "Send a sign-in code by e-mail",
              .description = "The response is the same whether or not the address has an account. The code in the mail "
                             "works only with the returned `challenge`: once, within 15 minutes, with at most five "
                             "attempts. An address can have three open challenges.",
              .body_example = "{\"email\": \"resident@example.com\"}", .errors = ROUTE_ERRORS(ERR_LINKED_ACCOUNT))),
    ROUTE("verifyOtp", POST, "/v1/auth/verify", .credential = CRED_NONE, .limit = LIMIT_AUTH,
          .body = &verify_request_shape, .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_verify,
          .reply = &session_credential_shape, .earlier = &earlier_key_rows[EARLIER_VERIFY],
          .doc = ROUTE_DOC("Sign-in and keys", 200, "Exchange a sign-in code for a website session",
                           .description = "Returns the key of a website session once. It is valid for 12 hours; keep "
                                          "it on the website's server. The first sign-in creates the account.",
                           .body_example =
                               "{\"email\": \"resident@example.com\", \"challenge\": "
                               "\"chl_0123456789abcdef0123456789abcdef\", \"otp\": \"123456\", \"purpose\": \"web\"}",
                           .errors = ROUTE_ERRORS(ERR_LINKED_ACCOUNT))),
};
const struct route_set auth_routes = ROUTE_SET(rows);

static const struct route site_rows[] = {
    ROUTE("requestBrowserOtp", POST, "/v1/auth/otp", .credential = CRED_NONE, .limit = LIMIT_OTP,
          .body = &otp_request_shape, .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_otp,
          .reply = &otp_challenge_shape, .flags = ROUTE_SITE_ONLY,
          .doc = ROUTE_DOC("Browsers", 200, "Send a sign-in code by e-mail",
                           .description = "As `POST /v1/auth/otp`, but also for members of buildings.",
                           .body_example = "{\"email\": \"resident@example.com\"}", .flags = DOC_EXTENSION)),
    ROUTE(
        "signInBrowser", POST, "/v1/auth/verify", .credential = CRED_NONE, .limit = LIMIT_AUTH,
        .body = &browser_sign_in_shape, .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_sign_in,
        .reply = &browser_session_shape, .flags = ROUTE_SITE_ONLY,
        .doc = ROUTE_DOC(
            "Browsers", 200, "Exchange a sign-in code for the cookie of a browser",
            .description =
                "Sets the cookie; its session's key stays in the service. The session ends after 12 hours. With "
                "`remember`, the browser gets another one when it comes back, until it has not been used for 30 days. "
                "A person has at most 20 browsers; beyond that, the one unused for the longest time is signed out. An "
                "address without an account that is a member of a building is signed in to that.",
            .body_example =
                "{\"email\": \"resident@example.com\", \"challenge\": \"chl_0123456789abcdef0123456789abcdef\", "
                "\"otp\": \"123456\", \"purpose\": \"web\", \"remember\": true}",
            .flags = DOC_EXTENSION)),
};
const struct route_set sign_in_routes = ROUTE_SET(site_rows);
