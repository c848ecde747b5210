#include "event/envelope.h"

#include <stdio.h>

#include "base/crypto.h"
#include "base/json.h"

static void write_current(const struct envelope *e, struct buf *out)
{
    buf_lit(out, "{\"id\":");
    json_put_str(out, e->id);
    buf_lit(out, ",\"type\":");
    json_put_str(out, e->type);
    buf_lit(out, ",\"created_at\":");
    json_put_time(out, e->created_us);
    buf_lit(out, ",\"api_version\":\"v1\",\"data\":");
    buf_str(out, e->data);
    buf_char(out, '}');
}

static void write_earlier(const struct envelope *e, struct buf *out)
{
    buf_lit(out, "{\"event\":");
    json_put_str(out, e->type);
    buf_lit(out, ",\"eventId\":");
    json_put_str(out, e->id);
    buf_lit(out, ",\"building_id\":");
    json_put_str(out, e->building_id);
    buf_lit(out, ",\"created_at\":");
    json_put_time(out, e->created_us);
    buf_lit(out, ",\"data\":");
    buf_str(out, e->data);
    buf_char(out, '}');
}

#define EARLIER                                                                                                        \
    {                                                                                                                  \
        write_earlier, "X-Service-Signature", "X-Service-Event", "X-Service-Delivery-Id"                               \
    }
static const struct form {
    void (*write)(const struct envelope *e, struct buf *out);
    const char *signature;                     /* the name of its header */
    const char *type_header, *delivery_header; /* names of further headers; NULL: none */
} forms[DELIVERY_FORMS] = {
    [DELIVERY_CURRENT] = {write_current, "Service-Signature", NULL, NULL},
    [DELIVERY_EARLIER] = EARLIER,
    [DELIVERY_EARLIER_TEST] = EARLIER,
};

size_t envelope_write(const struct envelope *e, int64_t time_s, struct buf *out)
{
    buf_i64(out, time_s);
    buf_char(out, '.');
    const size_t at = out->n;
    forms[e->form].write(e, out);
    return at;
}

void envelope_head(const struct envelope *e, char ret[static ENVELOPE_LINES][ENVELOPE_LINE_MAX])
{
    const struct form *form = &forms[e->form];
    for (int i = 0; i < ENVELOPE_LINES; i++)
        ret[i][0] = '\0';
    if (!form->type_header)
        return;
    snprintf(ret[0], ENVELOPE_LINE_MAX, "%s: %.*s", form->type_header, STR_ARG(e->type));
    snprintf(ret[1], ENVELOPE_LINE_MAX, "%s: %.*s", form->delivery_header, STR_ARG(e->id));
}

void envelope_sign_begin(enum delivery_form form, int64_t time_s, char ret[static ENVELOPE_SIGNATURE_MAX])
{
    snprintf(ret, ENVELOPE_SIGNATURE_MAX, "%s: t=%lld", forms[form].signature, (long long)time_s);
}

void envelope_sign(struct str signed_text, struct str secret, char line[static ENVELOPE_SIGNATURE_MAX])
{
    unsigned char mac[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    const size_t n = strlen(line);
    crypto_hmac_sha256(secret, signed_text, mac);
    hex_encode(mac, sizeof mac, hex);
    snprintf(line + n, ENVELOPE_SIGNATURE_MAX - n, ",v1=%s", hex);
}
