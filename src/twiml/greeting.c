#include "twiml/greeting.h"

#include <stdio.h>

#include "base/forms.h"
#include "call/wav.h"
#include "domain/recording.h"
#include "http/content.h"

#define PURPOSE   "twilio greeting"
#define MAC_BYTES 16
#define DAY_S     86400
#define SILENCE   (RECORDING_RATE / 10) /* in place of a recording that was removed during the call */

struct greeting_query {
    struct val until, mac;
};

static const struct field query_fields[] = {
    FIELD(struct greeting_query, until, T_INT, .min = 0, .max = INT64_MAX / US_PER_S, .error = ERR_NOT_FOUND,
          .doc = "seconds since 1970"),
    FIELD(struct greeting_query, mac, T_STRING, FORM("^[0-9a-f]{32}$", "32 hexadecimal digits"), .error = ERR_NOT_FOUND,
          .doc = "of the recording and `until`"),
};
const struct shape twiml_greeting_query = SHAPE(struct greeting_query, "TwilioGreetingQuery", query_fields);

/* ---- the address ---- */

static struct str signed_text(const struct id *recording, int64_t until_s, char ret[static 64])
{
    return str_n(ret, (size_t)snprintf(ret, 64, "%s %lld", recording->text, (long long)until_s));
}

void twiml_greeting_put(const struct config *c, const struct id *recording, int64_t now_us, struct buf *out)
{
    unsigned char mac[SHA256_LEN];
    char text[64], hex[2 * MAC_BYTES + 1];
    const int64_t until_s = (now_us / US_PER_S / DAY_S + 2) * DAY_S;
    crypto_derived_mac(PURPOSE, signed_text(recording, until_s, text), mac);
    hex_encode(mac, MAC_BYTES, hex);
    buf_printf(out, "%s" TWIML_GREETING "/%s?until=%lld&mac=%s", c->top_public_url, recording->text, (long long)until_s,
               hex);
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* `mac` fits the pattern of the query. With the previous master key, too. */
static bool is_valid(const struct id *recording, int64_t until_s, struct str mac, int64_t now_us)
{
    unsigned char bytes[MAC_BYTES];
    char text[64];
    for (size_t i = 0; i < MAC_BYTES; i++)
        bytes[i] = (unsigned char)(hex_digit(mac.p[2 * i]) << 4 | hex_digit(mac.p[2 * i + 1]));
    return crypto_is_derived_mac(PURPOSE, signed_text(recording, until_s, text), bytes, MAC_BYTES) &&
           until_s > now_us / US_PER_S;
}

/* ---- the audio ---- */

static enum err reply_wav(struct request *q, struct reply *p, struct str ulaw)
{
    struct buf b = BUF(RECORDING_MAX + 100);
    wav_write_ulaw(ulaw, &b);
    p->status = 200;
    p->raw = arena_str(q->tx.arena, buf_view(&b));
    buf_done(&b);
    return ERR_NONE;
}

static enum err reply_silence(struct request *q, struct reply *p)
{
    char *ulaw = arena_alloc(q->tx.arena, SILENCE);
    memset(ulaw, 0xff, SILENCE);
    return reply_wav(q, p, str_n(ulaw, SILENCE));
}

/* The audio of an ID never changes. */
static enum err reply_recording(struct request *q, struct reply *p, struct str ulaw)
{
    const struct http_request *r = q->http;
    const struct str tag = arena_printf(q->tx.arena, "\"%s\"", q->path_id.text);
    reply_header(p, "ETag", tag);
    p->max_age_s = DAY_S;
    if (!http_has_tag(r->headers, r->header_count, tag))
        return reply_wav(q, p, ulaw);
    p->status = 304;
    return ERR_NONE;
}

enum err twiml_greeting_get(struct request *q, struct reply *p)
{
    const struct greeting_query *query = q->query;
    struct str ulaw;
    if (!v_set(query->until) || !v_set(query->mac))
        return ERR_NOT_FOUND;
    if (!is_valid(&q->path_id, query->until.i, query->mac.s, q->tx.now_us))
        return ERR_NOT_FOUND;
    enum err e = recording_audio(&q->tx, &q->path_id, &ulaw);
    if (e == ERR_NOT_FOUND)
        return reply_silence(q, p);
    return e ? e : reply_recording(q, p, ulaw);
}
