#include "domain/activity_cursor.h"

#include "base/crypto.h"

#define MAC_LEN 16
#define PURPOSE "cursor"

/* The content of the text, in base64url. */
struct token {
    unsigned char created_us[8]; /* big-endian */
    char id[ID_LEN];
    unsigned char mac[MAC_LEN];
};
_Static_assert(sizeof(struct token) == 48, "no padding");
#define POSITION_LEN offsetof(struct token, mac)

static void put_u64(unsigned char ret[static 8], uint64_t v)
{
    for (int i = 8; i-- > 0; v >>= 8)
        ret[i] = (unsigned char)v;
}

/* Writes kind, length and bytes, so that different filters give different texts. */
static char *put_val(char *at, struct val v)
{
    unsigned char number[8];
    struct str bytes = {(const char *)number, sizeof number};
    if (v.kind == VAL_STR)
        bytes = v.s;
    else
        put_u64(number, v.kind == VAL_BOOL ? v.b : v_set(v) ? (uint64_t)v.i : 0);
    *at++ = (char)v.kind;
    put_u64((unsigned char *)at, bytes.n);
    memcpy(at + 8, bytes.p, bytes.n);
    return at + 8 + bytes.n;
}

/* The input of the token's MAC: its position, building and filters. */
static struct str bound_to(struct arena *a, const struct token *token, const struct id *building,
                           const struct activity_filter *f)
{
    const struct val bound[] = {v_str(id_str(building)), f->since, f->until, f->type, f->unlock_id, f->q, f->succeeded};
    size_t size = POSITION_LEN;
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        size += 17 + (bound[i].kind == VAL_STR ? bound[i].s.n : 0);
    char *bytes = arena_alloc(a, size), *at = bytes;
    memcpy(at, token, POSITION_LEN);
    at += POSITION_LEN;
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        at = put_val(at, bound[i]);
    return str_n(bytes, (size_t)(at - bytes));
}

struct str activity_cursor_write(struct arena *a, const struct activity_position *at, const struct id *building,
                                 const struct activity_filter *filter)
{
    struct token token;
    unsigned char mac[SHA256_LEN];
    put_u64(token.created_us, (uint64_t)at->created_us);
    memcpy(token.id, at->id.text, ID_LEN);
    crypto_derived_mac(PURPOSE, bound_to(a, &token, building, filter), mac);
    memcpy(token.mac, mac, MAC_LEN);
    return base64url_encode(a, str_n((const char *)&token, sizeof token));
}

bool activity_cursor_read(struct arena *a, struct str text, const struct id *building,
                          const struct activity_filter *filter, struct activity_position *ret)
{
    struct token token;
    struct str bytes;
    if (!base64url_decode(a, text, &bytes) || bytes.n != sizeof token)
        return false;
    memcpy(&token, bytes.p, sizeof token);
    if (!crypto_is_derived_mac(PURPOSE, bound_to(a, &token, building, filter), token.mac, MAC_LEN))
        return false;
    uint64_t created_us = 0;
    for (int i = 0; i < 8; i++)
        created_us = created_us << 8 | token.created_us[i];
    ret->created_us = (int64_t)created_us;
    memcpy(ret->id.text, token.id, ID_LEN);
    ret->id.text[ID_LEN] = '\0';
    return true;
}
