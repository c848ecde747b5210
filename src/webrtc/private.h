/* Inside the sessions of browsers: the state that their files share. */
#pragma once
#include "webrtc/dtls.h"
#include "webrtc/sdp.h"
#include "webrtc/socket.h"
#include "webrtc/stream.h"
#include "webrtc/webrtc.h"

#define WEBRTC_PATHS_MAX    4  /* pairs of addresses that a browser may keep */
#define WEBRTC_SLOT_LEN     3  /* hexadecimal digits of the session's place, at the start of its ufrag */
#define WEBRTC_UFRAG_LEN    11 /* with 8 random characters */
#define WEBRTC_PASSWORD_LEN 24

/* An address of the browser and one of ours between which an authenticated check came. */
struct webrtc_path {
    struct le le; /* in webrtc->paths */
    struct webrtc_session *session;
    struct sa remote, local;
    int64_t checked_ms;
};

enum webrtc_state { WEBRTC_STATE_OPEN, WEBRTC_STATE_READY, WEBRTC_STATE_GONE };

struct webrtc_session {
    struct webrtc *endpoint; /* NULL: closed by its owner */
    const struct webrtc_events *events;
    void *arg;
    unsigned slot;
    uint64_t owner;
    enum webrtc_state state;
    char ufrag[WEBRTC_UFRAG_LEN + 1], password[WEBRTC_PASSWORD_LEN + 1];
    char remote_ufrag[WEBRTC_UFRAG_MAX + 1];
    uint8_t print[WEBRTC_PRINT_LEN]; /* of the browser's certificate */
    bool listens, talks;
    int64_t opened_ms, checked_ms, heard_ms; /* the last check and packet */
    int64_t report_ms;                       /* the next report of ours */
    struct webrtc_path paths[WEBRTC_PATHS_MAX];
    struct webrtc_path *path; /* where packets go; NULL: not checked yet */
    bool nominated;           /* the browser chose it */
    struct webrtc_dtls *dtls; /* NULL: not begun */
    struct webrtc_stream stream;
    struct webrtc_counts counts;
};

struct webrtc {
    struct webrtc_socket *socket;
    struct webrtc_identity *identity;
    struct sa external; /* unset: none */
    struct tick *tick;
    struct tick_entry entry; /* while there are sessions */
    int64_t (*now_ms)(void *arg);
    void *arg;
    struct webrtc_session *slots[WEBRTC_SESSIONS_MAX];
    unsigned count;
    struct hash *paths; /* webrtc_path by the browser's address */
    uint8_t out[WEBRTC_PACKET_MAX];
};

/* ---- webrtc.c ---- */

/* Takes a datagram that came to our port. */
void webrtc_take(uint8_t *p, size_t n, const struct sa *from, const struct sa *to, void *arg);
/* Time-outs, repetitions and reports. The tick does it; for tests. */
void webrtc_on_tick(void *arg, int64_t now_ms);

/* ---- webrtc/check.c ---- */

/* The path between the two addresses, or NULL. */
struct webrtc_path *webrtc_check_path(const struct webrtc *w, const struct sa *from, const struct sa *to);
/* Takes a STUN message. Only an authenticated check of a browser is answered, and has an effect (RFC 8445, 7.3). */
void webrtc_check_take(struct webrtc *w, uint8_t *p, size_t n, const struct sa *from, const struct sa *to);
/* Forgets the session's paths. */
void webrtc_check_forget(struct webrtc_session *s);
