/* The SDP of a browser's session: the offer in, the answer out (RFC 8829, RFC 8839, RFC 8842). Pure.
 *
 * One audio section with DTLS-SRTP is taken, in one G.711 format; the other sections are refused. Candidates of the
 * offer are not read: the browser's addresses are learned from its checks. */
#pragma once
#include <re/re.h>

#include "webrtc/webrtc.h"

#define WEBRTC_UFRAG_MAX      256 /* RFC 8839, 5.4 */
#define WEBRTC_SECTIONS_MAX   16
#define WEBRTC_TOKEN_MAX      64 /* of a section's names */
#define WEBRTC_CANDIDATES_MAX 8
#define WEBRTC_PRINT_LEN      32 /* bytes of a fingerprint: SHA-256 */

struct webrtc_section {
    char name[WEBRTC_TOKEN_MAX], proto[WEBRTC_TOKEN_MAX], format[WEBRTC_TOKEN_MAX], mid[WEBRTC_TOKEN_MAX];
};

struct webrtc_offer {
    char ufrag[WEBRTC_UFRAG_MAX + 1];
    uint8_t print[WEBRTC_PRINT_LEN];
    bool listens, talks; /* the browser takes audio; it may send audio */
    struct webrtc_section sections[WEBRTC_SECTIONS_MAX];
    size_t count, audio; /* sections; the taken one of them */
};

/* Reads an offer that must have the format `pt`. */
enum webrtc_refusal webrtc_sdp_read(struct str text, uint8_t pt, struct webrtc_offer *ret) CHECKED;

struct webrtc_answer {
    const char *ufrag, *password;
    const char *print; /* our fingerprint, as text */
    uint32_t ssrc;
    uint8_t pt;
    const struct sa *candidates; /* the best one first, at least one */
    size_t count;
};

/* Writes the answer. False if it would be longer than WEBRTC_ANSWER_MAX. */
bool webrtc_sdp_answer(const struct webrtc_offer *offer, const struct webrtc_answer *mine,
                       char ret[static WEBRTC_ANSWER_MAX]) CHECKED;
