/* The 200 of a call that its caller has not acknowledged yet.
 *
 * libre keeps the session of an answered call and the transaction of its INVITE for 32 s, whatever becomes of the call,
 * and anybody can forge an INVITE. So there is no session before the caller was heard from again: until then the 200,
 * its repetitions and the transaction are kept here, and end at once when the call is dropped. */
#pragma once
#include <re/re.h>

#include "voice/sip_guard.h"

struct sip_answer {
    struct sip *sip;
    const struct sip_msg *invite;
    struct sip_strans *transaction;
    struct mbuf *sdp, *reply; /* the 200; NULL: not answered */
    struct tmr repeat, patience;
    unsigned repeated;
    void (*given_up)(void *arg);
    void *arg;
};

/* Answers `invite` with 200 and `sdp`, through its transaction, which it takes over; and again until sip_answer_done(),
 * or until given_up(arg) after 64*T1 (RFC 3261, 13.3.1.4). 0 or errno. */
int sip_answer_send(struct sip_answer *a, struct sip *sip, const struct sip_msg *invite,
                    struct sip_strans **transaction, struct mbuf *sdp, void (*given_up)(void *arg), void *arg);
/* Turns it into a session, as sipsess_accept() does; the request that proves the caller is to reach the session next.
 * The 200 that libre sends for it is kept back. 0 or errno. */
int sip_answer_confirm(struct sip_answer *a, struct sipsess **ret, struct sipsess_sock *sessions,
                       sipsess_offer_h *offer, sipsess_answer_h *answer, sipsess_estab_h *established,
                       sipsess_info_h *info, sipsess_close_h *close, void *arg);
/* Forgets it: nothing more is sent, nothing is kept. All zero is fine. */
void sip_answer_done(struct sip_answer *a);
