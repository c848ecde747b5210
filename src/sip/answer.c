#include "sip/answer.h"

#define HELPER_LAYER 10 /* next to the socket: below all others */
#define PATIENCE_MS  (64 * SIP_T1)

static void send_200(const struct sip_answer *a)
{
    struct sa to;
    struct pl rport;
    sip_reply_addr(&to, a->invite, !msg_param_exists(&a->invite->via.params, "rport", &rport));
    (void)sip_send(a->sip, a->invite->sock, a->invite->tp, &to, a->reply);
}

static void on_repeat(void *arg)
{
    struct sip_answer *a = arg;
    send_200(a);
    unsigned wait_ms = (unsigned)SIP_T1 << ++a->repeated;
    tmr_start(&a->repeat, wait_ms < SIP_T2 ? wait_ms : SIP_T2, on_repeat, a);
}

static void on_patience(void *arg)
{
    struct sip_answer *a = arg;
    a->given_up(a->arg);
}

static int send_answer(struct sip_answer *a, struct sip_strans **transaction, const char *headers)
{
    const struct sip_msg *invite = a->invite;
    struct sip_contact contact;
    sip_contact_set(&contact, a->contact, &invite->dst, invite->tp);
    return sip_treplyf(transaction, &a->reply, a->sip, invite, true, 200, "OK",
                       "%HAllow: " SIP_ALLOW "\r\n%sContent-Type: application/sdp\r\nContent-Length: %zu\r\n\r\n%b",
                       sip_contact_print, &contact, headers, mbuf_get_left(a->sdp), mbuf_buf(a->sdp),
                       mbuf_get_left(a->sdp));
}

int sip_answer_send(struct sip_answer *a, struct sip *sip, const struct sip_msg *invite,
                    struct sip_strans **transaction, const char *contact, const char *headers, struct mbuf *sdp,
                    void (*given_up)(void *arg), void *arg)
{
    *a = (struct sip_answer){.sip = sip, .invite = invite, .given_up = given_up, .arg = arg};
    (void)snprintf(a->contact, sizeof a->contact, "%s", contact);
    /* Once answered, libre holds another reference until its timer ends. */
    a->transaction = mem_ref(*transaction);
    a->sdp = mem_ref(sdp);
    int e = send_answer(a, transaction, headers);
    if (e) {
        a->transaction = mem_deref(a->transaction);
        a->sdp = mem_deref(a->sdp);
        return e;
    }
    tmr_start(&a->repeat, SIP_T1, on_repeat, a);
    tmr_start(&a->patience, PATIENCE_MS, on_patience, a);
    return 0;
}

static void on_bye_answered(int err, const struct sip_msg *msg, void *arg)
{
    (void)err;
    (void)msg;
    (void)arg;
}

void sip_answer_hang_up(const struct sip_answer *a)
{
    struct sip_dialog *dialog = NULL;
    if (!a->reply)
        return;
    if (!sip_dialog_accept(&dialog, a->invite))
        (void)sip_drequestf(NULL, a->sip, true, "BYE", dialog, 0, NULL, NULL, on_bye_answered, NULL,
                            "Content-Length: 0\r\n\r\n");
    mem_deref(dialog);
}

/* ---- the session ---- */

static bool keep_datagram(int *err, struct sa *dst, struct mbuf *mb, void *arg)
{
    (void)dst;
    (void)mb;
    (void)arg;
    *err = 0;
    return true;
}

static bool keep_segment(int *err, struct mbuf *mb, void *arg)
{
    (void)mb;
    (void)arg;
    *err = 0;
    return true;
}

int sip_answer_confirm(struct sip_answer *a, struct sipsess **ret, struct sipsess_sock *sessions,
                       sipsess_offer_h *offer, sipsess_answer_h *answer, sipsess_estab_h *established,
                       sipsess_info_h *info, sipsess_close_h *close, void *arg)
{
    const struct sip_msg *invite = a->invite;
    struct mbuf *sdp = mem_ref(a->sdp);
    struct udp_helper *udp = NULL;
    struct tcp_helper *tcp = NULL;
    sip_answer_done(a); /* the session makes its own transaction */
    int e = invite->tp == SIP_TRANSP_UDP
                ? udp_register_helper(&udp, invite->sock, HELPER_LAYER, keep_datagram, NULL, NULL)
                : tcp_register_helper(&tcp, sip_msg_tcpconn(invite), HELPER_LAYER, NULL, keep_segment, NULL, NULL);
    if (!e)
        e = sipsess_accept(ret, sessions, invite, 200, "OK", a->contact, "application/sdp", sdp, NULL, NULL, false,
                           offer, answer, established, info, NULL, close, arg, "Allow: " SIP_ALLOW "\r\n");
    mem_deref(udp);
    mem_deref(tcp);
    mem_deref(sdp);
    return e;
}

void sip_answer_done(struct sip_answer *a)
{
    tmr_cancel(&a->repeat);
    tmr_cancel(&a->patience);
    if (mem_nrefs(a->transaction) > 1)
        mem_deref(a->transaction); /* libre's */
    a->transaction = mem_deref(a->transaction);
    a->reply = mem_deref(a->reply);
    a->sdp = mem_deref(a->sdp);
}
