#include "sip/box.h"

#include "base/clock.h"
#include "base/container_of.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/metric.h"
#include "domain/box.h"
#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/call_begin.h"
#include "sip/stack.h"

#define PENDING_MAX 200                  /* requests whose password is being checked */
#define EXPIRES_MIN 60                   /* seconds of a registration */
#define EXPIRES_MAX BOX_REGISTERED_MAX_S /* and if it asks for none */

/* A request that waits for the store. */
struct sign_in {
    struct le le; /* in agent->boxes.sign_ins */
    struct sip_stack *stack;
    const struct sip_msg *msg;
    struct sip_digest digest;
    bool registers;
    int64_t expires_s; /* of a registration; 0 ends it */
    char name[BOX_NAME_MAX + 1];

    struct store_task task;
    struct mail mail;
    enum err result; /* ERR_NOT_FOUND: the name or the password is wrong */
    char number[CALL_NUMBER_MAX];
};

static void sign_in_destructor(void *arg)
{
    struct sign_in *s = arg;
    list_unlink(&s->le);
    mem_deref((void *)s->msg);
}

/* ---- answers ---- */

static void challenge(const struct sip_stack *stack, const struct sip_msg *msg, bool stale)
{
    char header[SIP_CHALLENGE_MAX];
    sip_digest_challenge(&msg->src, tick_now_ms(), stale, header);
    (void)sip_replyf(stack->sip, msg, 401, "Unauthorized", "%sContent-Length: 0\r\n\r\n", header);
}

/* In a transaction, so that a repeated request gets the same answer although its count was used. */
static void accept_registration(const struct sign_in *s)
{
    const struct sip_hdr *contact = sip_msg_hdr(s->msg, SIP_HDR_CONTACT);
    struct sip_addr addr;
    if (contact && s->expires_s && !sip_addr_decode(&addr, &contact->val))
        (void)sip_treplyf(NULL, NULL, s->stack->sip, s->msg, false, 200, "OK",
                          "Contact: <%r>;expires=%lld\r\nContent-Length: 0\r\n\r\n", &addr.auri,
                          (long long)s->expires_s);
    else
        (void)sip_treplyf(NULL, NULL, s->stack->sip, s->msg, false, 200, "OK", "Content-Length: 0\r\n\r\n");
}

static void begin_call(struct sip_stack *stack, const struct sip_msg *msg, const char *caller)
{
    if (sip_admit(stack->agent, msg, true))
        sip_call_invite(stack, msg, caller);
}

/* With 403: many telephones answer another challenge at once, with the same password. */
static void refuse_password(const struct sign_in *s)
{
    struct sip_agent *a = s->stack->agent;
    log_info("sip sign-in refused name=%s", s->name);
    metric_add(&metrics.sip_sign_ins[METRIC_SIGN_IN_WRONG], 1);
    if (sip_attempts_wrong(&a->boxes.attempts, &s->msg->src, tick_now_ms())) {
        char source[64];
        (void)re_snprintf(source, sizeof source, "%j", &s->msg->src);
        log_warn("sip sign-ins stopped source=%s wrong=%d", source, SIP_ATTEMPTS_BURST);
    }
    sip_refuse(a, s->msg, 403, "Forbidden", "");
}

static void sign_in_settled(struct sign_in *s)
{
    struct sip_agent *a = s->stack->agent;
    if (s->result == ERR_SERVICE_UNAVAILABLE) {
        sip_refuse(a, s->msg, 503, "Service Unavailable", SIP_RETRY_AFTER);
    } else if (s->result && s->result != ERR_NOT_FOUND) {
        sip_refuse(a, s->msg, 500, "Server Internal Error", "");
    } else if (s->result) {
        refuse_password(s);
    } else if (!sip_digest_use(&a->boxes.nonces, &s->digest, tick_now_ms())) {
        challenge(s->stack, s->msg, true);
    } else {
        metric_add(&metrics.sip_sign_ins[METRIC_SIGN_IN_ACCEPTED], 1);
        if (s->registers)
            accept_registration(s);
        else
            begin_call(s->stack, s->msg, s->number);
    }
}

/* ---- the store ---- */

static enum err check_password(struct sign_in *s, struct tx *tx)
{
    struct box_login login;
    enum err e = box_find(tx, str_z(s->name), &login);
    if (e)
        return e;
    const bool right = sip_digest_proves(&s->digest, &s->msg->met, login.password);
    crypto_wipe((char *)login.password.p, login.password.n);
    if (!right)
        return ERR_NOT_FOUND;
    if (login.number.n && login.number.n < sizeof s->number)
        memcpy(s->number, login.number.p, login.number.n);
    return ERR_NONE;
}

static enum err sign_in_run(struct store_task *task, struct db *db)
{
    struct sign_in *s = container_of(task, struct sign_in, task);
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = s->stack->agent->config, .now_us = clock_now_us()};
    memset(s->number, 0, sizeof s->number);
    enum err e = check_password(s, &tx);
    if (!e && s->registers) {
        char from[BOX_ADDRESS_MAX];
        (void)re_snprintf(from, sizeof from, "%J", &s->msg->src);
        e = box_registered(&tx, str_z(s->name), str_z(from), s->expires_s ? tx.now_us + s->expires_s * US_PER_S : 0);
    }
    arena_done(&arena);
    return e;
}

static void sign_in_answered(struct mail *m)
{
    struct sign_in *s = container_of(m, struct sign_in, mail);
    struct sip_agent *a = s->stack->agent;
    a->drain.asking--;
    a->boxes.sign_in_count--;
    sign_in_settled(s);
    mem_deref(s);
    sip_agent_settled(a);
}

static void sign_in_done(struct store_task *task, enum err result)
{
    struct sign_in *s = container_of(task, struct sign_in, task);
    s->result = result;
    s->mail.run = sign_in_answered;
    mailbox_post(&s->stack->agent->box, &s->mail);
}

/* ---- requests ---- */

static bool is_pending(const struct sip_agent *a, const struct sip_msg *msg)
{
    for (const struct le *le = a->boxes.sign_ins.head; le; le = le->next) {
        const struct sign_in *s = le->data;
        if (!pl_cmp(&s->msg->callid, &msg->callid) && s->msg->cseq.num == msg->cseq.num &&
            !pl_cmp(&s->msg->via.branch, &msg->via.branch))
            return true;
    }
    return false;
}

static void sign_in(struct sip_stack *stack, const struct sip_msg *msg, const struct sip_digest *d, int64_t expires_s)
{
    struct sip_agent *a = stack->agent;
    struct sign_in *s = is_pending(a, msg) ? NULL : mem_zalloc(sizeof *s, sign_in_destructor);
    if (!s)
        return; /* a repetition, or no memory: the caller repeats it */
    const bool stopped = !sip_attempts_allow(&a->boxes.attempts, &msg->src, tick_now_ms());
    if (stopped)
        metric_add(&metrics.sip_sign_ins[METRIC_SIGN_IN_STOPPED], 1);
    if (stopped || a->boxes.sign_in_count >= PENDING_MAX) {
        mem_deref(s);
        if (!stopped && !pl_strcmp(&msg->met, "INVITE"))
            sip_limits_refused(&a->limits, METRIC_REFUSED_SIGN_INS);
        sip_refuse(a, msg, 503, "Service Unavailable", SIP_RETRY_AFTER);
        return;
    }
    s->stack = stack;
    s->msg = mem_ref((void *)msg);
    s->digest = *d;
    s->registers = !pl_strcmp(&msg->met, "REGISTER");
    s->expires_s = expires_s;
    if (pl_strcpy(&d->response.username, s->name, sizeof s->name))
        s->name[0] = '\0'; /* too long: no box has this name */
    s->task = (struct store_task){
        .mode = s->registers ? STORE_WRITE : STORE_READ, .urgent = true, .run = sign_in_run, .done = sign_in_done};
    list_append(&a->boxes.sign_ins, &s->le, s);
    a->boxes.sign_in_count++;
    a->drain.asking++;
    store_submit(a->store, &s->task);
}

/* The seconds that a REGISTER asks for; EXPIRES_MAX if none. */
static int64_t asked_expires(const struct sip_msg *msg)
{
    const struct sip_hdr *contact = sip_msg_hdr(msg, SIP_HDR_CONTACT);
    struct sip_addr addr;
    struct pl value;
    int64_t asked = pl_isset(&msg->expires) ? pl_u32(&msg->expires) : EXPIRES_MAX;
    if (contact && !sip_addr_decode(&addr, &contact->val) && !msg_param_decode(&addr.params, "expires", &value))
        asked = pl_u32(&value);
    return asked < EXPIRES_MAX ? asked : EXPIRES_MAX;
}

static bool must_sign_in(const struct sip_agent *a, const struct sip_msg *msg)
{
    const struct config_peer *peer = sip_peers_find(&a->peers, &msg->src);
    if (peer && peer->server && *peer->server)
        return false; /* a provider cannot sign in */
    if (strcmp(a->config->voice_digest, "all") == 0)
        return true;
    return strcmp(a->config->voice_digest, "strangers") == 0 && !sip_peers_listed(&a->peers, &msg->src);
}

bool sip_box_take(struct sip_stack *s, const struct sip_msg *msg)
{
    struct sip_agent *a = s->agent;
    const bool registers = !pl_strcmp(&msg->met, "REGISTER");
    const int64_t expires_s = registers ? asked_expires(msg) : 0;
    struct sip_digest d;
    if (!registers && !must_sign_in(a, msg))
        return false;
    const enum sip_digest_state state = sip_digest_read(&a->boxes.nonces, msg, tick_now_ms(), &d);
    if (state == SIP_DIGEST_URI)
        sip_refuse(a, msg, 400, "Digest URI Is Not Request URI", "");
    else if (state != SIP_DIGEST_FRESH)
        challenge(s, msg, state == SIP_DIGEST_STALE);
    else if (expires_s && expires_s < EXPIRES_MIN)
        (void)sip_replyf(s->sip, msg, 423, "Interval Too Brief", "Min-Expires: %d\r\nContent-Length: 0\r\n\r\n",
                         EXPIRES_MIN);
    else
        sign_in(s, msg, &d, expires_s);
    return true;
}

int sip_box_init(struct sip_agent *a)
{
    const int e = sip_nonces_init(&a->boxes.nonces);
    return e ? e : sip_attempts_init(&a->boxes.attempts);
}

void sip_box_done(struct sip_agent *a)
{
    list_flush(&a->boxes.sign_ins);
    sip_nonces_done(&a->boxes.nonces);
    sip_attempts_done(&a->boxes.attempts);
}
