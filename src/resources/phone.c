#include <string.h>

#include "resources/routes.h"

#include "api/gate.h"
#include "api/parts.h"
#include "base/forms.h"
#include "base/log.h"
#include "base/metric.h"
#include "domain/phone.h"
#include "providers/providers.h"

#define SENDS 2 /* a send that may have failed is repeated once */

/* ---- bodies ---- */

struct pending {
    struct val phone_number, expires_at, attempts_left;
};
static const struct field pending_fields[] = {
    FIELD(struct pending, phone_number, T_STRING, .flags = F_REQUIRED, PHONE_FORM),
    FIELD(struct pending, expires_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct pending, attempts_left, T_INT, .flags = F_REQUIRED, .min = 0, .max = PHONE_CODE_ATTEMPTS),
};
static const struct shape pending_shape = SHAPE(struct pending, "PhonePending", pending_fields);

struct status {
    struct val phone_number, verified, verified_at, pending, next_action;
};
static const struct field status_fields[] = {
    FIELD(struct status, phone_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE, PHONE_FORM,
          .doc = "the verified phone to which calls are forwarded"),
    FIELD(struct status, verified, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct status, verified_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct status, pending, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &pending_shape,
          .doc = "a code that was sent and is not confirmed yet"),
    FIELD(struct status, next_action, T_STRING, .flags = F_REQUIRED),
};
static const struct shape status_shape = SHAPE(struct status, "PhoneStatus", status_fields);

struct verification {
    struct val phone_number;
};
static const struct field verification_fields[] = {
    FIELD(struct verification, phone_number, T_STRING, .flags = F_REQUIRED, PHONE_FORM,
          .doc = "the phone to verify, E.164"),
};
static const struct shape verification_shape = SHAPE(struct verification, "PhoneVerification", verification_fields);

struct code_sent {
    struct val status, phone_number, expires_at, message;
};
static const char *const code_sent_only[] = {"code_sent", NULL};
static const struct field code_sent_fields[] = {
    FIELD(struct code_sent, status, T_STRING, .flags = F_REQUIRED | F_CONST, .values = code_sent_only),
    FIELD(struct code_sent, phone_number, T_STRING, .flags = F_REQUIRED, PHONE_FORM),
    FIELD(struct code_sent, expires_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct code_sent, message, T_STRING, .flags = F_REQUIRED),
};
static const struct shape code_sent_shape = SHAPE(struct code_sent, "PhoneCodeSent", code_sent_fields);

struct confirmation {
    struct val code;
};
static const struct field confirmation_fields[] = {
    FIELD(struct confirmation, code, T_STRING, .flags = F_REQUIRED | F_SECRET, SIX_DIGITS_FORM,
          .doc = "the six digits of the latest text message"),
};
static const struct shape confirmation_shape = SHAPE(struct confirmation, "PhoneConfirmation", confirmation_fields);

/* ---- status ---- */

static const char *phone_next_action(const struct config *c, const struct phone_status *s)
{
    if (strcmp(c->sms_provider, "none") == 0 && !s->number.p)
        return "Ask the operator of this service to verify your phone: it sends no codes.";
    if (s->pending.number.p && s->pending.attempts_left > 0)
        return "Confirm the code with POST /v1/account/phone/confirmation.";
    if (s->pending.number.p || !s->number.p)
        return "Request a code with POST /v1/account/phone/verification.";
    return "No action needed: calls are forwarded to this phone. POST /v1/account/phone/verification changes it.";
}

static struct val pending_of(struct arena *a, const struct phone_status *s)
{
    if (!s->pending.number.p)
        return v_null();
    struct pending *p = arena_new(a, struct pending);
    p->phone_number = v_str(s->pending.number);
    p->expires_at = v_time(s->pending.expires_us);
    p->attempts_left = v_int(s->pending.attempts_left);
    return v_object(p);
}

static enum err reply_status(struct request *q, struct reply *p, const struct phone_status *s)
{
    struct status *r = arena_new(q->tx.arena, struct status);
    r->phone_number = v_str(s->number);
    r->verified = v_bool(s->number.p);
    r->verified_at = s->number.p && s->verified_us ? v_time(s->verified_us) : v_null();
    r->pending = pending_of(q->tx.arena, s);
    r->next_action = v_str(str_z(phone_next_action(q->tx.config, s)));
    return reply_ok(p, 200, &status_shape, r);
}

static enum err get_phone(struct request *q, struct reply *p)
{
    struct phone_status status;
    enum err e = phone_status(&q->tx, &q->who.account_id, &q->who.member_id, &status);
    return e ? e : reply_status(q, p, &status);
}

/* ---- sending a code ---- */

struct sending {
    const struct id *account, *member;
    struct str number;
    struct phone_code code;
};

static enum err make_code(struct tx *tx, void *arg)
{
    struct sending *s = arg;
    return phone_code_new(tx, s->account, s->member, s->number, &s->code);
}

static enum err code_was_sent(struct tx *tx, void *arg)
{
    const struct sending *s = arg;
    return phone_code_sent(tx, s->account, &s->code.id);
}

static void count_message(const struct request *q, enum outcome o)
{
    const bool call = strcmp(q->work.config->sms_provider, "call") == 0;
    const unsigned channel = call ? METRIC_CHANNEL_CALL : METRIC_CHANNEL_SMS;
    metric_add(&metrics.messages[channel * METRIC_ANSWER_VALUES + (unsigned)o], 1);
}

static enum err send_text(struct request *q, const struct sending *s)
{
    struct texter *texter = q->parts->providers->texter;
    struct str code = str_z(s->code.text);
    const struct sms_message message = {
        .id = id_str(&s->code.id),
        .to = s->number,
        .as = s->code.as,
        .text = arena_printf(q->tx.arena,
                             "%s is your Portero code to verify this phone. It is valid for 10 minutes. If you did not "
                             "request it, ignore this message.",
                             s->code.text),
        .code = code,
        .created_us = q->tx.now_us,
    };
    enum outcome o = OUTCOME_UNKNOWN;
    bool number = false;
    for (int i = 0; i < SENDS && o == OUTCOME_UNKNOWN; i++) {
        o = texter->ops->send(texter, &message, &number);
        count_message(q, o);
    }
    if (o == OUTCOME_DONE)
        return ERR_NONE;
    log_warn("phone code not sent id=%s outcome=%s", s->code.id.text, o == OUTCOME_REFUSED ? "refused" : "unknown");
    if (o == OUTCOME_REFUSED && number)
        return tx_fail(&q->tx, ERR_INVALID_PHONE_NUMBER, "phone_number cannot be sent codes");
    return ERR_PHONE_CODE_SEND_FAILED;
}

/* Stores the code, sends it, then activates it: a code that was not sent can never be confirmed. */
static enum err run_sending(struct request *q, struct sending *s)
{
    enum err e = gate_write(q, make_code, s);
    if (!e)
        e = send_text(q, s);
    if (!e)
        e = work_write(&q->work, code_was_sent, s);
    return e;
}

static enum err post_verification(struct request *q, struct reply *p)
{
    const struct verification *body = q->body;
    struct sending s = {.account = &q->who.account_id, .member = &q->who.member_id, .number = body->phone_number.s};
    enum err e = run_sending(q, &s);
    crypto_wipe(s.code.text, sizeof s.code.text);
    if (e && !q->tx.why.p)
        q->tx.why = q->work.why;
    if (e)
        return e;
    struct code_sent *r = arena_new(q->tx.arena, struct code_sent);
    r->status = v_str(str_z(code_sent_only[0]));
    r->phone_number = body->phone_number;
    r->expires_at = v_time(s.code.expires_us);
    r->message = v_str(strcmp(q->tx.config->sms_provider, "call") == 0
                           ? STR("This phone is called and told a six-digit code. It is valid for 10 minutes.")
                           : STR("A six-digit code was sent to this phone. It is valid for 10 minutes."));
    return reply_ok(p, 200, &code_sent_shape, r);
}

/* ---- confirming a code ---- */

static enum err post_confirmation(struct request *q, struct reply *p)
{
    const struct confirmation *body = q->body;
    struct phone_status status;
    enum err e = phone_confirm(&q->tx, &q->who.account_id, &q->who.member_id, body->code.s, &status);
    if (e == ERR_INVALID_PHONE_CODE)
        return reply_error_keep(p, e);
    return e ? e : reply_status(q, p, &status);
}

static const struct route rows[] = {
    ROUTE("getPhone", GET, "/v1/account/phone", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .run = RUN_READ, .handler = get_phone,
          .reply = &status_shape, .flags = ROUTE_SITE,
          .doc = ROUTE_DOC("Forwarding phone", 200, "The forwarding phone",
                           .description = "Calls without a matching grant are forwarded to this phone. A phone that "
                                          "was verified before needs no new text message.",
                           .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
    ROUTE("requestPhoneCode", POST, "/v1/account/phone/verification", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .body = &verification_shape,
          .body_error = ERR_INVALID_PHONE_NUMBER, .run = RUN_BLOCKING, .handler = post_verification,
          .reply = &code_sent_shape, .flags = ROUTE_SITE, .store_error = ERR_PHONE_CODE_SEND_FAILED,
          .doc = ROUTE_DOC(
              "Forwarding phone", 200, "Send a code to a new forwarding phone",
              .description = "Sends six digits, valid for 10 minutes, in a text message or, if the operator chose so, "
                             "in a call. The current phone stays in use until the code is confirmed.",
              .body_example = "{\"phone_number\": \"+15551234567\"}",
              .errors = ROUTE_ERRORS(ERR_SUBSCRIPTION_REQUIRED, ERR_NUMBER_NOT_PROVISIONED, ERR_ACCOUNT_NOT_FOUND,
                                     ERR_ALREADY_VERIFIED, ERR_PHONE_IN_USE, ERR_PHONE_CODE_RATE_LIMIT,
                                     ERR_PHONE_CHANGE_LIMIT, ERR_PHONE_CODE_SEND_FAILED))),
    ROUTE("confirmPhoneCode", POST, "/v1/account/phone/confirmation", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .body = &confirmation_shape,
          .body_error = ERR_INVALID_PHONE_CODE, .run = RUN_WRITE, .handler = post_confirmation, .reply = &status_shape,
          .flags = ROUTE_SITE,
          .doc = ROUTE_DOC("Forwarding phone", 200, "Confirm the code and use the new phone",
                           .description = "Each code allows five attempts. Then request another code.",
                           .body_example = "{\"code\": \"123456\"}",
                           .errors = ROUTE_ERRORS(ERR_PHONE_CODE_EXPIRED, ERR_SUBSCRIPTION_REQUIRED,
                                                  ERR_NUMBER_NOT_PROVISIONED, ERR_ACCOUNT_NOT_FOUND, ERR_PHONE_IN_USE,
                                                  ERR_PHONE_CODE_ATTEMPTS, ERR_PHONE_CHANGE_LIMIT))),
};
const struct route_set phone_routes = ROUTE_SET(rows);

static enum err give_up(struct request *q, struct reply *p)
{
    enum err e = phone_give_up(&q->tx, &q->who.account_id, &q->who.member_id);
    return e ? e : get_phone(q, p);
}

/* ---- rows of the website alone: the calling person's phone, the owner's or a member's ---- */

#define OWN                                                                                                            \
    .credential = CRED_WEB_SESSION, .people = PEOPLE_RESIDENT, .scopes = SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_WRITE),    \
    .limit = LIMIT_KEY

static const struct route own_rows[] = {
    ROUTE("getOwnPhone", GET, "/v1/person/phone", OWN, .run = RUN_READ, .handler = get_phone, .reply = &status_shape,
          .flags = ROUTE_SITE_ONLY,
          .doc = ROUTE_DOC("People", 200, "The calling person's phone",
                           .description = "Of the owner, the forwarding phone. A resident's rings with it.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
    ROUTE("giveUpOwnPhone", DELETE, "/v1/person/phone", OWN, .run = RUN_WRITE, .handler = give_up,
          .reply = &status_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC("People", 200, "Let the calling resident's phone ring no more",
                           .description = "The service forgets its number. An owner's phone can only be changed.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_ACCOUNT_NOT_FOUND))),
    ROUTE("requestOwnPhoneCode", POST, "/v1/person/phone/verification", OWN, .body = &verification_shape,
          .body_error = ERR_INVALID_PHONE_NUMBER, .run = RUN_BLOCKING, .handler = post_verification,
          .reply = &code_sent_shape, .flags = ROUTE_SITE_ONLY, .store_error = ERR_PHONE_CODE_SEND_FAILED,
          .doc = ROUTE_DOC("People", 200, "Send a code to a new phone of the calling person",
                           .description = "As for the forwarding phone. The members of a building have its limit of "
                                          "codes together. The phones of at most five members ring.",
                           .body_example = "{\"phone_number\": \"+15551234567\"}", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_SUBSCRIPTION_REQUIRED, ERR_NUMBER_NOT_PROVISIONED,
                                                  ERR_ACCOUNT_NOT_FOUND, ERR_ALREADY_VERIFIED, ERR_PHONE_IN_USE,
                                                  ERR_MEMBER_LIMIT, ERR_PHONE_CODE_RATE_LIMIT, ERR_PHONE_CHANGE_LIMIT,
                                                  ERR_PHONE_CODE_SEND_FAILED))),
    ROUTE("confirmOwnPhoneCode", POST, "/v1/person/phone/confirmation", OWN, .body = &confirmation_shape,
          .body_error = ERR_INVALID_PHONE_CODE, .run = RUN_WRITE, .handler = post_confirmation, .reply = &status_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC("People", 200, "Confirm the code and use the calling person's new phone",
                           .body_example = "{\"code\": \"123456\"}", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_PHONE_CODE_EXPIRED, ERR_SUBSCRIPTION_REQUIRED,
                                                  ERR_NUMBER_NOT_PROVISIONED, ERR_ACCOUNT_NOT_FOUND, ERR_PHONE_IN_USE,
                                                  ERR_MEMBER_LIMIT, ERR_PHONE_CODE_ATTEMPTS, ERR_PHONE_CHANGE_LIMIT))),
};
const struct route_set own_phone_routes = ROUTE_SET(own_rows);
