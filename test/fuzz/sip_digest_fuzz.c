/* The Authorization header of a stranger's REGISTER: the input follows a valid realm and nonce. */
#include <assert.h>

#include "base/crypto.h"
#include "sip/digest.h"

#define NOW_MS 1000

static struct sip_nonces nonces;
static char nonce[SIP_CHALLENGE_MAX]; /* from `nonce="` on, to its quote */

static void make_nonce(const struct sa *src)
{
    char challenge[SIP_CHALLENGE_MAX];
    sip_digest_challenge(src, NOW_MS, false, challenge);
    const char *from = strstr(challenge, "nonce=\"");
    assert(from);
    const size_t n = strcspn(from + 7, "\"") + 8;
    memcpy(nonce, from, n);
    nonce[n] = '\0';
}

static void take(const struct sip_msg *msg)
{
    struct sip_digest d;
    if (sip_digest_read(&nonces, msg, NOW_MS, &d) != SIP_DIGEST_FRESH)
        return;
    assert(d.count > 0);
    if (sip_digest_proves(&d, &msg->met, STR("password")))
        assert(d.response.response.l == 32);
    if (sip_digest_use(&nonces, &d, NOW_MS)) {
        assert(!sip_digest_use(&nonces, &d, NOW_MS));
        assert(sip_digest_read(&nonces, msg, NOW_MS, &d) == SIP_DIGEST_STALE);
    }
    assert(nonces.count <= SIP_NONCES_MAX);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct sa src;
    (void)argc;
    (void)argv;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    (void)sa_set_str(&src, "192.0.2.1", 5060);
    make_nonce(&src);
    return sip_nonces_init(&nonces);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct mbuf *mb = mbuf_alloc(n + 512);
    struct sip_msg *msg;
    if (n <= 2048 && mb &&
        !mbuf_printf(mb,
                     "REGISTER sip:a SIP/2.0\r\nVia: SIP/2.0/UDP a;branch=z9hG4bKa\r\nFrom: <sip:a@b>;tag=a\r\n"
                     "To: <sip:a@b>\r\nCall-ID: a\r\nCSeq: 1 REGISTER\r\nAuthorization: Digest realm=\"%s\", %s, %b\r\n"
                     "Content-Length: 0\r\n\r\n",
                     SIP_REALM, nonce, p, n)) {
        mb->pos = 0;
        if (!sip_msg_decode(&msg, mb)) {
            (void)sa_set_str(&msg->src, "192.0.2.1", 5060);
            take(msg);
            mem_deref(msg);
        }
    }
    mem_deref(mb);
    sip_nonces_done(&nonces);
    return sip_nonces_init(&nonces);
}
