#include "sip/challenge.h"

static bool can_answer(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    struct httpauth_digest_chall challenge;
    (void)msg;
    (void)arg;
    return !httpauth_digest_challenge_decode(&challenge, &hdr->val) &&
           (!pl_isset(&challenge.algorithm) || !pl_strcasecmp(&challenge.algorithm, "md5"));
}

static bool cannot_answer(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    return !can_answer(hdr, msg, arg);
}

void challenge_choose(const struct sip_msg *msg)
{
    static const enum sip_hdrid kinds[] = {SIP_HDR_WWW_AUTHENTICATE, SIP_HDR_PROXY_AUTHENTICATE};
    struct sip_hdr *other;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (!sip_msg_hdr_apply(msg, true, kinds[i], can_answer, NULL))
            continue;
        while ((other = (struct sip_hdr *)sip_msg_hdr_apply(msg, true, kinds[i], cannot_answer, NULL))) {
            hash_unlink(&other->he);
            mem_deref(other);
        }
    }
}
