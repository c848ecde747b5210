#include "sip/digest.h"

#include "base/crypto.h"

#define HASH_SIZE   256
#define PURPOSE     "sip nonce"
#define MAC_LEN     16
#define TIME_DIGITS 16                          /* hexadecimal */
#define NONCE_LEN   (TIME_DIGITS + 2 * MAC_LEN) /* hexadecimal */

struct used {
    struct le by_text, by_age;
    char nonce[NONCE_LEN + 1];
    uint32_t count; /* the highest accepted */
    int64_t expires_ms;
};

int sip_nonces_init(struct sip_nonces *n)
{
    *n = (struct sip_nonces){0};
    return hash_alloc(&n->used, HASH_SIZE);
}

static void used_destructor(void *arg)
{
    struct used *u = arg;
    hash_unlink(&u->by_text);
    list_unlink(&u->by_age);
}

void sip_nonces_done(struct sip_nonces *n)
{
    list_flush(&n->oldest);
    n->used = mem_deref(n->used);
}

/* ---- nonces ---- */

static void nonce_mac(const struct sa *src, const char time[static TIME_DIGITS], unsigned char ret[static SHA256_LEN])
{
    char text[TIME_DIGITS + 64];
    int n = re_snprintf(text, sizeof text, "%b %j", time, (size_t)TIME_DIGITS, src);
    crypto_derived_mac(PURPOSE, str_n(text, n > 0 ? (size_t)n : 0), ret);
}

static void nonce_make(const struct sa *src, int64_t now_ms, char ret[static NONCE_LEN + 1])
{
    unsigned char mac[SHA256_LEN];
    (void)re_snprintf(ret, NONCE_LEN + 1, "%016llx", (unsigned long long)now_ms);
    nonce_mac(src, ret, mac);
    hex_encode(mac, MAC_LEN, ret + TIME_DIGITS);
}

/* When the nonce was made; false: not by us, or for another address. */
static bool nonce_time(const struct sa *src, const struct pl *nonce, int64_t *ret_ms)
{
    char mine[NONCE_LEN + 1];
    struct pl time = {nonce->p, TIME_DIGITS};
    if (nonce->l != NONCE_LEN)
        return false;
    int64_t made_ms = (int64_t)pl_x64(&time);
    nonce_make(src, made_ms, mine);
    if (!crypto_equal(mine, nonce->p, NONCE_LEN))
        return false;
    *ret_ms = made_ms;
    return true;
}

void sip_digest_challenge(const struct sa *src, int64_t now_ms, bool stale, char ret[static SIP_CHALLENGE_MAX])
{
    char nonce[NONCE_LEN + 1];
    nonce_make(src, now_ms, nonce);
    (void)re_snprintf(ret, SIP_CHALLENGE_MAX,
                      "WWW-Authenticate: Digest realm=\"" SIP_REALM
                      "\", nonce=\"%s\", algorithm=MD5, qop=\"auth\"%s\r\n",
                      nonce, stale ? ", stale=true" : "");
}

static bool is_nonce(struct le *le, void *arg)
{
    const struct used *u = le->data;
    return !pl_strcmp(arg, u->nonce);
}

static struct used *find_used(const struct sip_nonces *n, const struct pl *nonce)
{
    return list_ledata(hash_lookup(n->used, hash_joaat_pl(nonce), is_nonce, (void *)nonce));
}

/* ---- answers ---- */

/* The nonce count: eight hexadecimal digits. */
static bool read_count(const struct pl *text, uint32_t *ret)
{
    if (text->l != 8)
        return false;
    for (size_t i = 0; i < text->l; i++) {
        if (!strchr("0123456789abcdefABCDEF", text->p[i]) || !text->p[i])
            return false;
    }
    *ret = pl_x32(text);
    return *ret > 0;
}

static bool read_one(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    (void)msg;
    struct sip_digest *d = arg;
    return !httpauth_digest_response_decode(&d->response, &hdr->val) && !pl_strcmp(&d->response.realm, SIP_REALM);
}

static bool is_sip(const struct uri *u)
{
    return !pl_strcasecmp(&u->scheme, "sip") || !pl_strcasecmp(&u->scheme, "sips");
}

/* Whether the URI of an answer is the request's. */
static bool is_request_uri(const struct pl *text, const struct uri *request)
{
    struct uri u;
    if (uri_decode(&u, text) || !is_sip(&u) || !is_sip(request) || pl_casecmp(&u.host, &request->host))
        return false;
    return (!u.port || !request->port || u.port == request->port) &&
           (!pl_isset(&u.user) || !pl_cmp(&u.user, &request->user));
}

enum sip_digest_state sip_digest_read(const struct sip_nonces *n, const struct sip_msg *msg, int64_t now_ms,
                                      struct sip_digest *ret)
{
    struct sip_digest d;
    int64_t made_ms;
    if (!sip_msg_hdr_apply(msg, true, SIP_HDR_AUTHORIZATION, read_one, &d))
        return SIP_DIGEST_NONE;
    if (pl_strcmp(&d.response.qop, "auth") || !pl_isset(&d.response.cnonce) || !read_count(&d.response.nc, &d.count))
        return SIP_DIGEST_NONE;
    if (!nonce_time(&msg->src, &d.response.nonce, &made_ms))
        return SIP_DIGEST_NONE;
    const struct used *u = find_used(n, &d.response.nonce);
    if (!is_request_uri(&d.response.uri, &msg->uri))
        return SIP_DIGEST_URI;
    *ret = d;
    return made_ms > now_ms || now_ms - made_ms > SIP_NONCE_MS || (u && d.count <= u->count) ? SIP_DIGEST_STALE
                                                                                             : SIP_DIGEST_FRESH;
}

bool sip_digest_proves(const struct sip_digest *d, const struct pl *method, struct str password)
{
    uint8_t ha1[MD5_SIZE];
    bool right = !md5_printf(ha1, "%r:%s:%b", &d->response.username, SIP_REALM, password.p, password.n) &&
                 !httpauth_digest_response_auth(&d->response, method, ha1);
    crypto_wipe(ha1, sizeof ha1);
    return right;
}

/* Forgets nonces that have expired. */
static void forget_expired(struct sip_nonces *n, int64_t now_ms)
{
    for (struct used *u; (u = list_ledata(n->oldest.head)) && u->expires_ms < now_ms; n->count--)
        mem_deref(u);
}

bool sip_digest_use(struct sip_nonces *n, const struct sip_digest *d, int64_t now_ms)
{
    forget_expired(n, now_ms);
    struct used *u = find_used(n, &d->response.nonce);
    if (u && d->count <= u->count)
        return false;
    if (!u) {
        if (n->count >= SIP_NONCES_MAX || !(u = mem_zalloc(sizeof *u, used_destructor)))
            return false;
        (void)pl_strcpy(&d->response.nonce, u->nonce, sizeof u->nonce);
        u->expires_ms = now_ms + SIP_NONCE_MS;
        hash_append(n->used, hash_joaat_pl(&d->response.nonce), &u->by_text, u);
        list_append(&n->oldest, &u->by_age, u);
        n->count++;
    }
    u->count = d->count;
    return true;
}
