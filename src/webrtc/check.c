#include <string.h>

#include "webrtc/private.h"

#define COOKIE_AT  4
#define TYPE_CHECK 0x0001 /* a Binding request */
#define KEEP_MS    10000  /* a path of a session in use is not taken over for so long after its last check */

/* ---- paths ---- */

struct between {
    const struct sa *from, *to;
};

static bool is_between(struct le *le, void *arg)
{
    const struct webrtc_path *path = le->data;
    const struct between *b = arg;
    return sa_cmp(&path->remote, b->from, SA_ALL) && sa_cmp(&path->local, b->to, SA_ALL);
}

struct webrtc_path *webrtc_check_path(const struct webrtc *w, const struct sa *from, const struct sa *to)
{
    struct between b = {from, to};
    return list_ledata(hash_lookup(w->paths, sa_hash(from, SA_ALL), is_between, &b));
}

static void forget_path(struct webrtc_path *path)
{
    hash_unlink(&path->le);
    if (path->session && path->session->path == path)
        path->session->path = NULL;
    path->session = NULL;
}

void webrtc_check_forget(struct webrtc_session *s)
{
    for (size_t i = 0; i < WEBRTC_PATHS_MAX; i++)
        forget_path(&s->paths[i]);
}

/* An unused place, or the place of the path that was checked longest ago; never the path in use. */
static struct webrtc_path *place_for_path(struct webrtc_session *s)
{
    struct webrtc_path *oldest = NULL;
    for (size_t i = 0; i < WEBRTC_PATHS_MAX; i++) {
        struct webrtc_path *path = &s->paths[i];
        if (!path->session)
            return path;
        if (path != s->path && (!oldest || path->checked_ms < oldest->checked_ms))
            oldest = path;
    }
    forget_path(oldest);
    return oldest;
}

static bool is_in_use(const struct webrtc_path *path, int64_t now_ms)
{
    const struct webrtc_session *s = path->session;
    return s->state == WEBRTC_STATE_READY && s->path == path && now_ms - path->checked_ms < KEEP_MS;
}

/* The path of this check. A port of the browser, or of a router before it, may have been another session's. NULL: it
 * still is. */
static struct webrtc_path *take_path(struct webrtc_session *s, const struct sa *from, const struct sa *to,
                                     int64_t now_ms)
{
    struct webrtc_path *path = webrtc_check_path(s->endpoint, from, to);
    if (path && path->session != s) {
        if (is_in_use(path, now_ms))
            return NULL;
        forget_path(path);
        path = NULL;
    }
    if (!path) {
        path = place_for_path(s);
        *path = (struct webrtc_path){.session = s, .remote = *from, .local = *to};
        hash_append(s->endpoint->paths, sa_hash(from, SA_ALL), &path->le, path);
    }
    path->checked_ms = now_ms;
    return path;
}

/* ---- checks ---- */

/* The session of "OURS:THEIRS". */
static struct webrtc_session *session_of(const struct webrtc *w, const char *name)
{
    struct pl digits = {name, WEBRTC_SLOT_LEN};
    if (strlen(name) <= WEBRTC_UFRAG_LEN || name[WEBRTC_UFRAG_LEN] != ':')
        return NULL;
    const uint32_t slot = pl_x32(&digits);
    struct webrtc_session *s = slot < WEBRTC_SESSIONS_MAX ? w->slots[slot] : NULL;
    const bool fits =
        s && !strncmp(name, s->ufrag, WEBRTC_UFRAG_LEN) && !strcmp(name + WEBRTC_UFRAG_LEN + 1, s->remote_ufrag);
    return fits ? s : NULL;
}

static void answer_check(const struct webrtc_session *s, const struct stun_msg *request, const struct sa *from,
                         const struct sa *to, const struct stun_errcode *error, const struct stun_unknown_attr *unknown)
{
    struct mbuf *mb = mbuf_alloc(256);
    const uint8_t class = error ? STUN_CLASS_ERROR_RESP : STUN_CLASS_SUCCESS_RESP;
    if (mb && !stun_msg_encode(mb, STUN_METHOD_BINDING, class, stun_msg_tid(request), error,
                               (const uint8_t *)s->password, WEBRTC_PASSWORD_LEN, true, 0, 2, STUN_ATTR_UNKNOWN_ATTR,
                               unknown, STUN_ATTR_XOR_MAPPED_ADDR, error ? NULL : from))
        webrtc_socket_send(s->endpoint->socket, to, from, mb->buf, mb->end);
    mem_deref(mb);
}

static void accept_check(struct webrtc_session *s, const struct stun_msg *m, const struct sa *from, const struct sa *to)
{
    const int64_t now_ms = s->endpoint->now_ms(s->endpoint->arg);
    const bool nominates = stun_msg_attr(m, STUN_ATTR_USE_CAND);
    struct webrtc_path *path = take_path(s, from, to, now_ms);
    if (!path)
        return;
    s->checked_ms = now_ms;
    if (!s->path || nominates)
        s->path = path;
    s->nominated = s->nominated || nominates;
    answer_check(s, m, from, to, NULL, NULL);
}

static void judge_check(const struct webrtc *w, const struct stun_msg *m, const struct stun_unknown_attr *unknown,
                        const struct sa *from, const struct sa *to)
{
    const struct stun_attr *name = stun_msg_attr(m, STUN_ATTR_USERNAME);
    struct webrtc_session *s = name ? session_of(w, name->v.username) : NULL;
    if (!s || stun_msg_chk_mi(m, (const uint8_t *)s->password, WEBRTC_PASSWORD_LEN) || s->state == WEBRTC_STATE_GONE)
        return; /* a stranger gets no answer, which a forged source would direct at a third party */
    if (unknown->typec)
        answer_check(s, m, from, to, &(struct stun_errcode){420, "Unknown Attribute"}, unknown);
    else if (stun_msg_attr(m, STUN_ATTR_CONTROLLED)) /* a lite agent never controls a full one */
        answer_check(s, m, from, to, &(struct stun_errcode){487, "Role Conflict"}, NULL);
    else
        accept_check(s, m, from, to);
}

/* The cheap part of the judgement: a flood must not cost more. */
static bool may_be_check(const uint8_t *p, size_t n)
{
    static const uint8_t cookie[] = {0x21, 0x12, 0xa4, 0x42};
    return n >= STUN_HEADER_SIZE && (p[0] << 8 | p[1]) == TYPE_CHECK && !memcmp(p + COOKIE_AT, cookie, sizeof cookie);
}

void webrtc_check_take(struct webrtc *w, uint8_t *p, size_t n, const struct sa *from, const struct sa *to)
{
    struct stun_msg *m = NULL;
    struct stun_unknown_attr unknown;
    struct mbuf *mb = w->count && may_be_check(p, n) ? mbuf_alloc(n) : NULL;
    if (!mb)
        return;
    if (!mbuf_write_mem(mb, p, n)) {
        mb->pos = 0;
        if (!stun_msg_decode(&m, mb, &unknown) && !stun_msg_chk_fingerprint(m))
            judge_check(w, m, &unknown, from, to);
    }
    mem_deref(m);
    mem_deref(mb);
}
