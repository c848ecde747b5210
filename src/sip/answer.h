/* The 200 of a call that is not acknowledged yet.
 *
 * libre keeps the session of an answered call and the transaction of its INVITE for 32 s, even after the call ended,
 * and anybody can forge an INVITE. So the session is made only at the caller's ACK. Until then the 200, its
 * repetitions and the transaction are kept here, and end at once with the call. */
#pragma once
#include <re/re.h>

#include "media/external.h"
#include "sip/guard.h"

struct sip_answer {
    struct sip *sip;
    const struct sip_msg *invite;
    struct sip_strans *transaction;
    char contact[EXTERNAL_CONTACT_MAX];
    struct mbuf *sdp, *reply; /* the 200; NULL: not answered */
    struct tmr repeat, patience;
    unsigned repeated;
    void (*given_up)(void *arg);
    void *arg;
};

/* Answers `invite` with 200 and `sdp` through its transaction, which it takes over. `contact` is ours, `headers` are
 * more lines or "". Repeats the 200 until sip_answer_done(), or for 64*T1 (RFC 3261, 13.3.1.4) and then calls
 * given_up(arg). Returns 0 or errno. */
int sip_answer_send(struct sip_answer *a, struct sip *sip, const struct sip_msg *invite,
                    struct sip_strans **transaction, const char *contact, const char *headers, struct mbuf *sdp,
                    void (*given_up)(void *arg), void *arg);
/* Makes the session, as sipsess_accept() does. The ACK must reach the session next. The 200
 * that libre sends again is dropped. Returns 0 or errno. */
int sip_answer_confirm(struct sip_answer *a, struct sipsess **ret, struct sipsess_sock *sessions,
                       sipsess_offer_h *offer, sipsess_answer_h *answer, sipsess_estab_h *established,
                       sipsess_info_h *info, sipsess_close_h *close, void *arg);
/* Sends a BYE for an answer that nobody acknowledged. Does nothing without one. */
void sip_answer_hang_up(const struct sip_answer *a);
/* Stops the repetitions and frees everything. An all-zero answer is fine. */
void sip_answer_done(struct sip_answer *a);
