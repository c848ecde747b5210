/* Documents of OAuth clients: the first line is Cache-Control, the rest the document. An accepted one has the client's
 * address, a name that can be shown, and redirects that can be allowed. */
#include <stdlib.h>

#include "base/crypto.h"
#include "net/cache.h"
#include "oauth/oauth_document.h"

#define ADDRESS STR("https://a.example/c")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text, rest;
    const struct str field = str_cut(str_n((const char *)data, size), '\n', &text);
    struct oauth_client c;
    static const unsigned char master[SHA256_LEN] = "a key for tests";
    struct arena arena;
    crypto_set_master(master, NULL);
    arena_init(&arena, NULL, 0);
    require(net_cache_s(field) >= NET_CACHE_UNSAID);
    if (text.p && !oauth_document_read(&arena, ADDRESS, text, &c)) {
        require(text.n <= OAUTH_DOCUMENT_MAX && str_eq(c.id, ADDRESS) && oauth_name_is_allowed(c.name));
        rest = c.redirects;
        require(rest.n > 0);
        while (rest.p)
            require(oauth_redirect_is_allowed(str_cut(rest, '\n', &rest)));
        require(oauth_client_vouch(&arena, 1795167000000000LL, &c, str_cut(c.redirects, '\n', &rest)).n <=
                OAUTH_VOUCHER_MAX);
    }
    arena_done(&arena);
    return 0;
}
