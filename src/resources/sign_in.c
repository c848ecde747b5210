#include "resources/sign_in.h"

#include "api/cookie.h"
#include "domain/settings.h"

static enum err end_earlier_session(struct request *q)
{
    struct str cookie;
    unsigned char hash[SHA256_LEN];
    if (!cookie_of(q->http, &cookie))
        return ERR_NONE;
    browser_hash(cookie, hash);
    return browser_replace(&q->tx, hash);
}

enum err sign_in_browser(struct request *q, const struct key_options *key, struct val timezone, bool remember,
                         struct reply *p, struct browser_issued *ret)
{
    struct str user_agent = http_header(q->http, STR("User-Agent"), NULL);
    enum err e = end_earlier_session(q);
    if (!e && v_set(timezone) && !id_given(&key->member_id))
        e = settings_first_zone(&q->tx, &key->account_id, timezone.s);
    if (!e)
        e = browser_issue(&q->tx, key, user_agent, remember, ret);
    if (!e)
        reply_header(p, "Set-Cookie", cookie_set(q->tx.arena, str_z(ret->cookie), remember));
    return e;
}
