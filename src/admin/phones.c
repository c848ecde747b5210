/* Forwarding phones that the operator has verified, for example where no codes are sent (sms.provider none). */
#include "admin/routes.h"
#include "base/forms.h"
#include "domain/phone.h"

struct phone_body {
    struct val email, number;
};

static const struct field body_fields[] = {
    FIELD(struct phone_body, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .max = 254,
          .error = ERR_INVALID_EMAIL),
    FIELD(struct phone_body, number, T_STRING, .flags = F_REQUIRED, PHONE_FORM, .error = ERR_INVALID_PHONE_NUMBER),
};
static const struct shape body_shape = SHAPE(struct phone_body, "AdminPhone", body_fields);

static enum err verify_phone(struct request *q, struct reply *p)
{
    const struct phone_body *given = q->body;
    struct phone_body *body = arena_new(q->tx.arena, struct phone_body);
    struct id account;
    *body = *given;
    enum err e = admin_account(&q->tx, body->email.s, &account);
    if (e)
        return e;
    q->subject = arena_printf(q->tx.arena, "account=%s", account.text);
    e = phone_vouch(&q->tx, &account, body->number.s);
    return e ? e : reply_ok(p, 200, &body_shape, body);
}

static const struct route rows[] = {
    ROUTE("adminVerifyPhone", POST, "/admin/phones", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = verify_phone, .reply = &body_shape,
          .doc = ROUTE_DOC("Accounts", 200, "Set the verified phone of an account")),
};
const struct route_set admin_phone_routes = ROUTE_SET(rows);
