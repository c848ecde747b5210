/* IDs of OAuth clients, their vouchers and redirect URIs: any text, and any change of genuine ones. The first byte says
 * which; a change is a byte and the bits to flip. Nothing is read but the genuine content. */
#include <stdlib.h>

#include "base/crypto.h"
#include "oauth/oauth_client.h"

#define NOW 1795167000000000LL
#define URL STR("https://assistant.example/client.json")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* An allowed redirect runs nothing in a browser. An accepted one is a registered one, or leads to a port of this device
 * at a registered path. */
static void check_redirect(struct arena *a, const struct oauth_client *c, struct str uri)
{
    const bool allowed = oauth_redirect_is_allowed(uri), local = allowed && oauth_redirect_is_local(uri);
    if (allowed)
        require(oauth_redirect_host(a, uri).n > 0 && memchr(uri.p, '/', uri.n) &&
                !str_eqi(str_n(uri.p, uri.n < 11 ? uri.n : 11), STR("javascript:")) &&
                !str_eqi(str_n(uri.p, uri.n < 5 ? uri.n : 5), STR("data:")));
    if (oauth_client_has_redirect(c, uri))
        require(allowed &&
                (str_eq(uri, STR("https://assistant.example/cb")) || str_eq(uri, STR("robot://assistant/back")) ||
                 (local && uri.n >= 3 && str_eq(str_from(uri, uri.n - 3), STR("/cb")))));
}

static void check_address(struct arena *a, struct str id)
{
    struct oauth_client c;
    if (!oauth_client_is_address(id))
        return;
    require(str_starts(id, STR("https://")) && id.n <= OAUTH_URI_MAX && !memchr(id.p, '#', id.n) &&
            memchr(id.p + 8, '/', id.n - 8) && oauth_redirect_host(a, id).n > 0 && !oauth_client_read(a, id, &c));
}

static struct str changed(struct arena *a, struct str genuine, const uint8_t *data, size_t size)
{
    struct str text = arena_str(a, genuine);
    for (size_t i = 0; i + 2 < size; i += 3)
        ((char *)text.p)[(size_t)(data[i] << 8 | data[i + 1]) % text.n] ^= (char)data[i + 2];
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char master[SHA256_LEN] = "a key for tests";
    struct arena arena;
    struct oauth_client genuine, c;
    if (!size)
        return 0;
    crypto_set_master(master, NULL);
    arena_init(&arena, NULL, 0);
    const struct str redirects = STR("https://assistant.example/cb\nhttp://127.0.0.1/cb\nrobot://assistant/back");
    const struct str id = oauth_client_register(&arena, NOW, STR("Robot"), redirects);
    require(oauth_client_read(&arena, id, &genuine));
    const struct oauth_client known = {.id = URL, .name = STR("Robot")};
    const struct str voucher = oauth_client_vouch(&arena, NOW, &known, STR("https://assistant.example/cb"));
    const struct str raw = str_n((const char *)data + 1, size - 1);
    const struct str text = data[0] % 3 == 0   ? raw
                            : data[0] % 3 == 1 ? changed(&arena, id, data + 1, size - 1)
                                               : changed(&arena, voucher, data + 1, size - 1);
    if (oauth_client_read(&arena, text, &c))
        require(str_eq(c.name, genuine.name) && str_eq(c.redirects, genuine.redirects));
    if (oauth_client_vouched(&arena, NOW, text, URL, &c))
        require(str_eq(c.name, known.name) && str_eq(c.redirects, STR("https://assistant.example/cb")));
    check_redirect(&arena, &genuine, raw);
    check_address(&arena, raw);
    (void)oauth_name_is_allowed(raw);
    arena_done(&arena);
    return 0;
}
