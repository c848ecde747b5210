#include "webrtc/sdp.h"

#include <ctype.h>
#include <string.h>

#include "media/player.h"
#include "media/sdp_text.h"

#define PROFILE "UDP/TLS/RTP/SAVPF"

/* ---- the offer ---- */

/* Characters of RFC 4566's token. All that we repeat from an offer is made of them and '/'. */
static bool copy_token(const char *from, size_t n, char *ret, size_t size)
{
    if (!n || n >= size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (from[i] <= ' ' || from[i] > '~' || strchr("\"(),:;<=>?@[\\]", from[i]))
            return false;
    memcpy(ret, from, n);
    ret[n] = '\0';
    return true;
}

static bool copy_word(const char *from, char *ret)
{
    return from && copy_token(from, strlen(from), ret, WEBRTC_TOKEN_MAX);
}

static bool read_section(const struct sdp_media *m, struct webrtc_section *ret)
{
    const struct sdp_format *first = list_ledata(list_head(sdp_media_format_lst(m, false)));
    if (!first || !copy_word(first->id, ret->format) || !copy_word(sdp_media_name(m), ret->name) ||
        !copy_word(sdp_media_proto(m), ret->proto))
        return false;
    const char *mid = sdp_media_rattr(m, "mid");
    return !mid || copy_word(mid, ret->mid);
}

/* Section `audio` is ours, which libre has put in the place of the first that fits. */
static bool read_sections(const struct sdp_session *sdp, const struct sdp_media *audio, struct webrtc_offer *ret)
{
    const struct le *le;
    ret->audio = WEBRTC_SECTIONS_MAX;
    LIST_FOREACH(sdp_session_medial(sdp, false), le)
    {
        if (ret->count == WEBRTC_SECTIONS_MAX || !read_section(le->data, &ret->sections[ret->count]))
            return false;
        if (le->data == audio)
            ret->audio = ret->count;
        ret->count++;
    }
    return true;
}

static bool has_format(const struct sdp_media *m, uint8_t pt)
{
    const struct le *le;
    LIST_FOREACH(sdp_media_format_lst(m, false), le)
    {
        const struct sdp_format *f = le->data;
        if (f->sup && f->pt == pt)
            return true;
    }
    return false;
}

static bool on_group(const char *name, const char *value, void *arg)
{
    (void)name;
    const struct str mid = str_z(arg);
    struct str rest = str_z(value);
    if (!str_eq(str_cut(rest, ' ', &rest), STR("BUNDLE")))
        return false;
    while (rest.n)
        if (str_eq(str_cut(rest, ' ', &rest), mid))
            return true;
    return false;
}

static bool on_fingerprint(const char *name, const char *value, void *arg)
{
    (void)name;
    uint8_t *ret = arg;
    struct str text = str_z(value), digits;
    if (!str_eqi(str_cut(text, ' ', &digits), STR("sha-256")) || digits.n != 3 * WEBRTC_PRINT_LEN - 1)
        return false;
    for (size_t i = 0; i < WEBRTC_PRINT_LEN; i++) {
        const char *at = digits.p + 3 * i;
        if (!isxdigit((unsigned char)at[0]) || !isxdigit((unsigned char)at[1]) ||
            (i + 1 < WEBRTC_PRINT_LEN && at[2] != ':'))
            return false;
        ret[i] = (uint8_t)(ch_hex(at[0]) << 4 | ch_hex(at[1]));
    }
    return true;
}

static enum webrtc_refusal read_transport(const struct sdp_session *sdp, const struct sdp_media *m,
                                          struct webrtc_offer *ret)
{
    char *mid = ret->sections[ret->audio].mid;
    const char *ufrag = sdp_media_session_rattr(m, sdp, "ice-ufrag");
    const char *setup = sdp_media_session_rattr(m, sdp, "setup");
    if (!*mid || !sdp_media_rattr(m, "rtcp-mux") || !sdp_session_rattr_apply(sdp, "group", on_group, mid))
        return WEBRTC_NO_BUNDLE;
    if (!ufrag || !copy_token(ufrag, strlen(ufrag), ret->ufrag, sizeof ret->ufrag))
        return WEBRTC_NO_ICE;
    if (!sdp_media_rattr_apply(m, "fingerprint", on_fingerprint, ret->print) &&
        !sdp_session_rattr_apply(sdp, "fingerprint", on_fingerprint, ret->print))
        return WEBRTC_NO_FINGERPRINT;
    if (!setup || (strcmp(setup, "actpass") != 0 && strcmp(setup, "active") != 0))
        return WEBRTC_NOT_ACTIVE;
    ret->listens = sdp_media_rdir(m) & SDP_SENDONLY; /* libre turns the direction round: it is ours */
    ret->talks = sdp_media_rdir(m) & SDP_RECVONLY;
    return WEBRTC_TAKEN;
}

static enum webrtc_refusal read_offer(struct sdp_session *sdp, const struct sdp_media *m, struct mbuf *text, uint8_t pt,
                                      struct webrtc_offer *ret)
{
    if (sdp_decode(sdp, text, true) || !read_sections(sdp, m, ret))
        return WEBRTC_NOT_SDP;
    if (ret->audio == WEBRTC_SECTIONS_MAX || !has_format(m, pt))
        return WEBRTC_NO_G711;
    return read_transport(sdp, m, ret);
}

static int make_audio_session(struct sdp_session **ret, struct sdp_media **ret_audio)
{
    struct sa nowhere;
    sa_init(&nowhere, AF_INET);
    int e = sdp_session_alloc(ret, &nowhere);
    if (!e)
        e = sdp_media_add(ret_audio, *ret, sdp_media_audio, 9, PROFILE);
    if (!e)
        e = sdp_format_add(NULL, *ret_audio, false, "0", "PCMU", 8000, 1, NULL, NULL, NULL, false, NULL);
    if (!e)
        e = sdp_format_add(NULL, *ret_audio, false, "8", "PCMA", 8000, 1, NULL, NULL, NULL, false, NULL);
    return e;
}

enum webrtc_refusal webrtc_sdp_read(struct str text, uint8_t pt, struct webrtc_offer *ret)
{
    struct sdp_session *sdp = NULL;
    struct sdp_media *audio = NULL;
    enum webrtc_refusal r = WEBRTC_FULL;
    if (text.n > WEBRTC_OFFER_MAX)
        return WEBRTC_TOO_LONG;
    if (!text.n || !sdp_text_fits(text))
        return WEBRTC_NOT_SDP;
    *ret = (struct webrtc_offer){0};
    struct mbuf *mb = mbuf_alloc(text.n);
    if (mb && !mbuf_write_mem(mb, (const uint8_t *)text.p, text.n) && !make_audio_session(&sdp, &audio)) {
        mb->pos = 0;
        r = read_offer(sdp, audio, mb, pt, ret);
    }
    mem_deref(mb);
    mem_deref(sdp);
    return r;
}

/* ---- the answer ---- */

static int write_refused(struct mbuf *mb, const struct webrtc_section *s)
{
    int e = mbuf_printf(mb, "m=%s 0 %s %s\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\n", s->name, s->proto, s->format);
    return e || !*s->mid ? e : mbuf_printf(mb, "a=mid:%s\r\n", s->mid);
}

static int write_candidates(struct mbuf *mb, const struct webrtc_answer *a)
{
    int e = 0;
    for (size_t i = 0; !e && i < a->count; i++)
        e = mbuf_printf(mb, "a=candidate:%zu 1 udp %u %j %u typ host\r\n", i + 1,
                        ice_cand_calc_prio(ICE_CAND_TYPE_HOST, (uint16_t)(65535 - i), 1), &a->candidates[i],
                        sa_port(&a->candidates[i]));
    return e ? e : mbuf_write_str(mb, "a=end-of-candidates\r\n");
}

static const char *direction(const struct webrtc_offer *o)
{
    return o->listens ? o->talks ? "sendrecv" : "sendonly" : o->talks ? "recvonly" : "inactive";
}

static int write_audio(struct mbuf *mb, const struct webrtc_offer *o, const struct webrtc_answer *a)
{
    const struct sa *first = &a->candidates[0];
    int e = mbuf_printf(mb, "m=audio %u " PROFILE " %u\r\nc=IN IP%d %j\r\n", sa_port(first), a->pt,
                        sa_af(first) == AF_INET ? 4 : 6, first);
    if (!e)
        e = mbuf_printf(mb, "a=rtpmap:%u %s/8000\r\na=ptime:20\r\na=%s\r\na=mid:%s\r\na=rtcp-mux\r\n", a->pt,
                        a->pt == PT_PCMU ? "PCMU" : "PCMA", direction(o), o->sections[o->audio].mid);
    if (!e)
        e = mbuf_printf(mb, "a=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=fingerprint:sha-256 %s\r\na=setup:passive\r\n",
                        a->ufrag, a->password, a->print);
    if (!e && o->listens)
        e = mbuf_printf(mb, "a=msid:door audio\r\na=ssrc:%u cname:portero\r\n", a->ssrc);
    return e ? e : write_candidates(mb, a);
}

bool webrtc_sdp_answer(const struct webrtc_offer *o, const struct webrtc_answer *a, char ret[static WEBRTC_ANSWER_MAX])
{
    const struct sa *first = &a->candidates[0];
    struct mbuf *mb = mbuf_alloc(1024);
    if (!mb)
        return false;
    int e = mbuf_printf(mb, "v=0\r\no=- %u 1 IN IP%d %j\r\ns=-\r\nt=0 0\r\na=ice-lite\r\na=group:BUNDLE %s\r\n",
                        a->ssrc, sa_af(first) == AF_INET ? 4 : 6, first, o->sections[o->audio].mid);
    for (size_t i = 0; !e && i < o->count; i++)
        e = i == o->audio ? write_audio(mb, o, a) : write_refused(mb, &o->sections[i]);
    const bool fine = !e && mb->end < WEBRTC_ANSWER_MAX;
    if (fine) {
        memcpy(ret, mb->buf, mb->end);
        ret[mb->end] = '\0';
    }
    mem_deref(mb);
    return fine;
}
