#include "providers/twilio_hook.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "providers/twilio.h"

#define SIGNATURE_LEN BASE64_LEN(SHA1_LEN)
#define COVERED_MAX   131072 /* bytes that a signature covers; a body is shorter */
#define ORIGIN_MAX    512

struct twilio_hook {
    struct arena arena;
    struct str account, token;
};

/* ---- the signature ---- */

static int compare_bytes(struct str a, struct str b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    const int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_fields(const void *a, const void *b)
{
    const struct form_field *x = a, *y = b;
    const int order = compare_bytes(x->name, y->name);
    return order ? order : compare_bytes(x->value, y->value);
}

/* Appends each field, by name and then by value. A field that is given twice with one value counts once. */
static void put_fields(const struct form *f, struct arena *a, struct buf *out)
{
    struct form_field *sorted = arena_array(a, struct form_field, f->count + 1);
    if (f->count)
        memcpy(sorted, f->fields, f->count * sizeof *sorted);
    qsort(sorted, f->count, sizeof *sorted, compare_fields);
    for (size_t i = 0; i < f->count; i++) {
        if (i && compare_fields(&sorted[i - 1], &sorted[i]) == 0)
            continue;
        buf_str(out, sorted[i].name);
        buf_str(out, sorted[i].value);
    }
}

static bool signature_fits(const struct twilio_hook *h, const char *origin, const struct twilio_posted *r,
                           struct str fields)
{
    unsigned char mac[SHA1_LEN];
    char text[SIGNATURE_LEN + 1];
    struct buf covered = BUF(COVERED_MAX);
    buf_str(&covered, str_z(origin));
    buf_str(&covered, r->target);
    buf_str(&covered, fields);
    crypto_hmac_sha1(h->token, buf_view(&covered), mac);
    base64_standard_encode(mac, sizeof mac, text);
    const bool fits =
        !covered.full && r->signature.n == SIGNATURE_LEN && crypto_equal(text, r->signature.p, SIGNATURE_LEN);
    buf_done(&covered);
    return fits;
}

/* The origin with the port of its scheme if it has none, else without its port. */
static bool other_origin(struct str origin, char ret[static ORIGIN_MAX])
{
    const bool https = str_starts(origin, STR("https://"));
    if (origin.n + 8 > ORIGIN_MAX)
        return false;
    memcpy(ret, origin.p, origin.n);
    ret[origin.n] = '\0';
    char *host = ret + (https ? 8 : 7), *port = strrchr(host, ':');
    if (port && !strchr(port, ']'))
        *port = '\0';
    else
        memcpy(ret + origin.n, https ? ":443" : ":80", https ? 5 : 4);
    return true;
}

static bool is_signed(const struct twilio_hook *h, const struct twilio_posted *r, struct str fields)
{
    char given[ORIGIN_MAX], other[ORIGIN_MAX];
    if (r->origin.n >= sizeof given || r->origin.n < 8 || !other_origin(r->origin, other))
        return false;
    memcpy(given, r->origin.p, r->origin.n);
    given[r->origin.n] = '\0';
    /* Only the sender of a right signature can tell which of the two it was. */
    return signature_fits(h, given, r, fields) || signature_fits(h, other, r, fields);
}

/* ---- the body ---- */

/* The value of `bodySHA256` in the query; STR_NONE without it. */
static struct str body_hash(struct str target)
{
    struct str query, pair, value;
    (void)str_cut(target, '?', &query);
    while (query.p) {
        pair = str_cut(query, '&', &query);
        if (str_eq(str_cut(pair, '=', &value), STR("bodySHA256")))
            return value.p ? value : STR("");
    }
    return STR_NONE;
}

static bool body_fits(struct str hash, struct str body)
{
    unsigned char digest[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    crypto_sha256(body, digest);
    hex_encode(digest, sizeof digest, hex);
    return hash.n == 2 * SHA256_LEN && crypto_equal(hex, hash.p, 2 * SHA256_LEN);
}

bool twilio_hook_read(const struct twilio_hook *h, const struct twilio_posted *r, struct arena *a, struct form *ret)
{
    struct form form;
    struct buf fields = BUF(COVERED_MAX);
    const struct str hash = body_hash(r->target);
    if (!form_read(r->body, TWILIO_FIELDS_MAX, a, &form))
        return false;
    if (!hash.p)
        put_fields(&form, a, &fields);
    const bool fine = !fields.full && is_signed(h, r, buf_view(&fields)) && (!hash.p || body_fits(hash, r->body)) &&
                      str_eq(form_value(&form, "AccountSid"), h->account);
    buf_done(&fields);
    if (fine)
        *ret = form;
    return fine;
}

/* ---- life ---- */

enum err twilio_hook_new(const struct config *c, struct twilio_hook **ret, char **ret_why)
{
    if (!*c->twilio_account_sid || !*c->twilio_auth_token) {
        *ret = NULL;
        return ERR_NONE;
    }
    struct twilio_hook *h = mem_new(struct twilio_hook);
    arena_init(&h->arena, NULL, 0);
    h->account = arena_str(&h->arena, str_z(c->twilio_account_sid));
    enum err e = config_secret_of("twilio.auth_token", c->twilio_auth_token, &h->arena, &h->token, ret_why);
    if (!e && !h->token.n)
        e = err_why(ret_why, ERR_USAGE, "twilio.auth_token is empty");
    if (!e && !twilio_is_sid(h->account, "AC"))
        e = err_why(ret_why, ERR_USAGE, "twilio.account_sid must be AC and 32 hexadecimal digits");
    if (e) {
        twilio_hook_free(h);
        return e;
    }
    *ret = h;
    return ERR_NONE;
}

void twilio_hook_free(struct twilio_hook *h)
{
    if (!h)
        return;
    crypto_wipe((void *)h->token.p, h->token.n);
    arena_done(&h->arena);
    free(h);
}
