#include "jobs/envelope.h"

#include <stdio.h>

#include "base/crypto.h"
#include "base/json.h"

size_t envelope_write(const struct envelope *e, int64_t time_s, struct buf *out)
{
    buf_i64(out, time_s);
    buf_char(out, '.');
    const size_t at = out->n;
    buf_lit(out, "{\"id\":");
    json_put_str(out, e->id);
    buf_lit(out, ",\"type\":");
    json_put_str(out, e->type);
    buf_lit(out, ",\"created_at\":");
    json_put_time(out, e->created_us);
    buf_lit(out, ",\"api_version\":\"v1\",\"data\":");
    buf_str(out, e->data);
    buf_char(out, '}');
    return at;
}

void envelope_sign_begin(int64_t time_s, char ret[static ENVELOPE_SIGNATURE_MAX])
{
    snprintf(ret, ENVELOPE_SIGNATURE_MAX, "Service-Signature: t=%lld", (long long)time_s);
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
