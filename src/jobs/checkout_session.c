#include "jobs/checkout_session.h"

#include "domain/work.h"

/* ---- recording answers ---- */

enum answer_kind { ANSWER_SESSION, ANSWER_REFUSED, ANSWER_NO_SESSION };

struct answer {
    struct checkout *checkout;
    enum answer_kind kind;
    struct checkout_session session;
};

static enum err record_answer_run(struct tx *tx, void *arg)
{
    const struct answer *a = arg;
    switch (a->kind) {
    case ANSWER_SESSION:
        return checkout_settle(tx, a->checkout, &a->session);
    case ANSWER_REFUSED:
        return checkout_refuse(tx, a->checkout);
    case ANSWER_NO_SESSION:
        return checkout_vanish(tx, a->checkout);
    }
    return ERR_INTERNAL_ERROR;
}

static enum err record_answer(const struct checkout_context *context, struct checkout *c, enum answer_kind kind,
                              const struct billing_session *session)
{
    struct answer a = {.checkout = c, .kind = kind};
    if (session)
        a.session = checkout_session_of(session);
    return work_write(context->work, record_answer_run, &a);
}

struct checkout_session checkout_session_of(const struct billing_session *s)
{
    static const enum checkout_status statuses[] = {[BILLING_SESSION_OPEN] = CHECKOUT_OPEN,
                                                    [BILLING_SESSION_COMPLETE] = CHECKOUT_COMPLETE,
                                                    [BILLING_SESSION_EXPIRED] = CHECKOUT_EXPIRED};
    return (struct checkout_session){
        .id = s->id,
        .url = s->url,
        .status = statuses[s->status],
        .customer_id = s->customer_id,
        .subscription_id = s->subscription_id,
    };
}

/* ---- calls ---- */

enum err checkout_session_open(const struct checkout_context *context, struct checkout *c)
{
    const struct billing_session_request request = {
        .key = id_str(&c->id),
        .account_id = id_str(&c->account_id),
        .email = c->email,
        .customer_id = c->customer_id,
        .plan = c->plan,
        .quantity = c->quantity,
        .success_url = arena_printf(context->work->arena, "%.*s?checkout=success", STR_ARG(c->return_url)),
        .cancel_url = arena_printf(context->work->arena, "%.*s?checkout=cancel", STR_ARG(c->return_url)),
    };
    struct billing_session session;
    switch (context->billing->ops->session_create(context->billing, &request, context->work->arena, &session)) {
    case OUTCOME_DONE:
        return record_answer(context, c, ANSWER_SESSION, &session);
    case OUTCOME_REFUSED:
        return record_answer(context, c, ANSWER_REFUSED, NULL);
    case OUTCOME_UNKNOWN:
        break;
    }
    return ERR_CHECKOUT_UNAVAILABLE;
}

enum err checkout_session_refresh(const struct checkout_context *context, struct checkout *c)
{
    struct billing_session session;
    switch (context->billing->ops->session_get(context->billing, c->session_id, context->work->arena, &session)) {
    case OUTCOME_DONE:
        return record_answer(context, c, ANSWER_SESSION, &session);
    case OUTCOME_REFUSED:
        return record_answer(context, c, ANSWER_NO_SESSION, NULL);
    case OUTCOME_UNKNOWN:
        break;
    }
    return ERR_CHECKOUT_UNAVAILABLE;
}

/* A refusal does not prove that the session cannot be paid any more. Reading it does. */
enum err checkout_session_expire(const struct checkout_context *context, struct checkout *c)
{
    struct billing_session session;
    enum err e = ERR_CHECKOUT_UNAVAILABLE;
    switch (context->billing->ops->session_expire(context->billing, c->session_id, context->work->arena, &session)) {
    case OUTCOME_DONE:
        e = record_answer(context, c, ANSWER_SESSION, &session);
        break;
    case OUTCOME_REFUSED:
        e = checkout_session_refresh(context, c);
        break;
    case OUTCOME_UNKNOWN:
        break;
    }
    return !e && c->status == CHECKOUT_OPEN ? ERR_CHECKOUT_UNAVAILABLE : e;
}

static enum err adopt_run(struct tx *tx, void *arg)
{
    const struct answer *a = arg;
    struct checkout other;
    enum err e = checkout_of_session(tx, NULL, a->session.id, &other);
    if (!e)
        return id_equal(&other.id, &a->checkout->id) ? ERR_NONE : ERR_NOT_FOUND;
    return e == ERR_NOT_FOUND ? checkout_settle(tx, a->checkout, &a->session) : e;
}

enum err checkout_session_adopt(const struct checkout_context *context, struct checkout *c, struct str session_id)
{
    struct billing_session session;
    enum outcome o = context->billing->ops->session_get(context->billing, session_id, context->work->arena, &session);
    if (o == OUTCOME_UNKNOWN)
        return ERR_CHECKOUT_UNAVAILABLE;
    if (o == OUTCOME_REFUSED || !str_eq(session.account_id, id_str(&c->account_id)))
        return ERR_NOT_FOUND;
    struct answer a = {.checkout = c, .session = checkout_session_of(&session)};
    return work_write(context->work, adopt_run, &a);
}
