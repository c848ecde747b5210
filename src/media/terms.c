#include "media/terms.h"

#include "media/external.h"
#include "media/player.h"
#include "media/sdp_text.h"

int media_terms_init(struct media_terms *t, const struct media_options *o, struct rtp_sock *rtp)
{
    struct sa external;
    const bool outside = o->config && o->peer && external_address(o->config, o->laddr, o->peer, &external);
    t->event_pt = -1;
    int e = sdp_session_alloc(&t->sdp, outside ? &external : o->laddr);
    if (!e)
        e = sdp_media_add(&t->audio, t->sdp, sdp_media_audio, sa_port(rtp_local(rtp)), media_crypto_profile(o->srtp));
    if (!e)
        e = media_crypto_init(&t->crypto, o->srtp, rtp, t->audio);
    if (!e)
        e = sdp_format_add(NULL, t->audio, false, "0", "PCMU", 8000, 1, NULL, NULL, NULL, false, NULL);
    if (!e)
        e = sdp_format_add(NULL, t->audio, false, "8", "PCMA", 8000, 1, NULL, NULL, NULL, false, NULL);
    if (!e && o->events)
        e = sdp_format_add(NULL, t->audio, false, "101", telev_rtpfmt, 8000, 1, NULL, NULL, NULL, false, "0-15");
    if (!e)
        e = sdp_media_set_lattr(t->audio, true, "ptime", "20");
    return e;
}

/* The peer's preferred G.711 format. Its formats are in the order of its preference. */
static const struct sdp_format *chosen_format(const struct media_terms *t)
{
    const struct le *le;
    LIST_FOREACH(sdp_media_format_lst(t->audio, false), le)
    {
        const struct sdp_format *f = le->data;
        if (f->sup && (f->pt == PT_PCMU || f->pt == PT_PCMA))
            return f;
    }
    return NULL;
}

enum err media_terms_take(struct media_terms *t, bool offer, struct mbuf *sdp, bool *ret_moved)
{
    struct mbuf *text = sdp_text_copy(str_n((const char *)mbuf_buf(sdp), mbuf_get_left(sdp)));
    const bool read = text && !sdp_decode(t->sdp, text, offer);
    mem_deref(text);
    if (!read)
        return ERR_USAGE;
    const struct sdp_format *codec = chosen_format(t);
    const struct sa *raddr = sdp_media_raddr(t->audio);
    if (!codec || !sa_port(raddr) || !media_crypto_take(&t->crypto, t->audio, offer))
        return ERR_USAGE;
    const struct sdp_format *events = sdp_media_rformat(t->audio, telev_rtpfmt);
    t->pt = (uint8_t)codec->pt;
    t->event_pt = events && events->pt >= 0 && events->pt < 128 ? events->pt : -1;
    const bool held = !sa_isset(raddr, SA_ADDR) || sa_is_any(raddr); /* RFC 3264, 8.4: the old form of hold */
    t->known = true;
    t->send = !held && (sdp_media_dir(t->audio) & SDP_SENDONLY);
    *ret_moved = !held && !sa_cmp(raddr, &t->rtp, SA_ALL);
    if (*ret_moved)
        t->rtp = *raddr;
    return ERR_NONE;
}

enum err media_terms_make(struct media_terms *t, bool offer, struct mbuf **ret)
{
    if (offer && media_crypto_offer(&t->crypto, t->audio))
        return ERR_IO;
    return sdp_encode(ret, t->sdp, offer) ? ERR_IO : ERR_NONE;
}

void media_terms_done(struct media_terms *t)
{
    media_crypto_done(&t->crypto);
    mem_deref(t->sdp);
}
