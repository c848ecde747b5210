#include "handset/register.h"

#include <errno.h>
#include <stdio.h>

#include "handset/reach.h"
#include "sip/challenge.h"
#include "sip/trunk_form.h"

#define HASH_SIZE   16
#define FDS         64
#define PATIENCE_MS 6000
#define REPEATS_MAX 3 /* a proxy's realm, the registrar's, a stale nonce */

struct
try {
    const struct config_peer *peer;
    const char *password;
    struct sa server;
    bool tcp;

    struct sip *sip;
    struct sip_auth *auth;
    struct sip_request *request;
    struct tmr timer;
    uint32_t cseq;
    unsigned long long id;
    int result;
    char *why;
    size_t why_size;
};

static void end_try(struct try *t, int result, const char *why)
{
    t->result = result;
    for (size_t i = 0; why && i + 1 < t->why_size; i++) {
        const unsigned char c = (unsigned char)why[i];
        t->why[i] = c && (c < ' ' || c == '"') ? ' ' : why[i];
        t->why[i + 1] = '\0';
        if (!c)
            break;
    }
    re_cancel();
}

static int on_password(char **user, char **password, const char *realm, void *arg)
{
    const struct try *t = arg;
    (void)realm;
    const int e = str_dup(user, t->peer->user);
    return e ? e : str_dup(password, t->password);
}

static void on_response(int error, const struct sip_msg *msg, void *arg);

static int add_nothing(enum sip_transp tp, const struct sa *src, const struct sa *dst, struct mbuf *mb, void *arg)
{
    (void)tp, (void)src, (void)dst, (void)mb, (void)arg;
    return 0;
}

static int send_register(struct try *t)
{
    char hop[80], uri[300];
    struct uri route;
    const char *domain = sip_trunk_domain(t->peer);
    const struct pl user = {t->peer->user, strlen(t->peer->user)};
    (void)re_snprintf(hop, sizeof hop, "sip:%J%s", &t->server, t->tcp ? ";transport=tcp" : "");
    (void)snprintf(uri, sizeof uri, "sip:%s", domain);
    const int e = uri_decode(&route, &(struct pl){hop, strlen(hop)});
    return e ? e
             : sip_requestf(&t->request, t->sip, true, "REGISTER", uri, &route, t->auth, add_nothing, on_response, t,
                            "To: <sip:%H@%s>\r\nFrom: <sip:%H@%s>;tag=%016llx\r\nCall-ID: %016llx\r\n"
                            "CSeq: %u REGISTER\r\nUser-Agent: portero/" PORTERO_VERSION "\r\nContent-Length: 0\r\n\r\n",
                            uri_user_escape, &user, domain, uri_user_escape, &user, domain, t->id, t->id + 1,
                            ++t->cseq);
}

static void on_response(int error, const struct sip_msg *msg, void *arg)
{
    struct try *t = arg;
    char why[100];
    if (!error && msg->scode < 200)
        return;
    t->request = NULL;
    if (error) {
        end_try(t, error, str_error(error, why, sizeof why));
        return;
    }
    const bool challenge = msg->scode == 401 || msg->scode == 407;
    if (challenge)
        challenge_choose(msg);
    if (challenge && t->cseq <= REPEATS_MAX && !sip_auth_authenticate(t->auth, msg) && !send_register(t))
        return;
    (void)re_snprintf(why, sizeof why, "%u %r", msg->scode, &msg->reason);
    end_try(t, msg->scode < 300 ? 0 : EACCES, why);
}

static void on_late(void *arg)
{
    end_try(arg, ETIMEDOUT, "no answer to REGISTER");
}

static int start(struct try *t)
{
    struct sa local;
    int e = reach_local(&t->server, &local);
    if (!e)
        e = sip_alloc(&t->sip, NULL, HASH_SIZE, HASH_SIZE, HASH_SIZE, "portero/" PORTERO_VERSION, NULL, t);
    if (!e)
        e = sip_transp_add(t->sip, t->tcp ? SIP_TRANSP_TCP : SIP_TRANSP_UDP, &local);
    if (!e)
        e = sip_auth_alloc(&t->auth, on_password, t, false);
    return e ? e : send_register(t);
}

static void stop(struct try *t)
{
    tmr_cancel(&t->timer);
    t->request = mem_deref(t->request);
    if (t->sip)
        sip_close(t->sip, true);
    t->auth = mem_deref(t->auth);
    t->sip = mem_deref(t->sip);
}

int register_try(const struct config_peer *p, const char *password, const struct sa *server, bool tcp, char *ret_why,
                 size_t why_size)
{
    struct try t = {
        .peer = p, .password = password, .server = *server, .tcp = tcp, .why = ret_why, .why_size = why_size};
    *ret_why = '\0';
    rand_init();
    int e = re_thread_init();
    if (e)
        return e;
    t.id = rand_u64();
    e = fd_setsize(FDS);
    if (!e)
        e = start(&t);
    if (!e) {
        tmr_start(&t.timer, PATIENCE_MS, on_late, &t);
        e = re_main(NULL);
    }
    stop(&t);
    re_thread_close();
    if (e)
        (void)snprintf(ret_why, why_size, "%s", strerror(e));
    return e ? e : t.result;
}
