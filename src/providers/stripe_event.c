#include "providers/stripe_event.h"

#include "base/crypto.h"
#include "base/json.h"
#include "providers/stripe_object.h"

#define HEADER_MAX     4096
#define SIGNATURE_TEXT (2 * SHA256_LEN)

/* ---- the signature ---- */

/* The t of the header. Returns false unless there is exactly one. */
static bool signed_at(struct str header, struct str *ret_text, int64_t *ret_s)
{
    size_t count = 0;
    uint64_t s = 0;
    for (struct str rest = header; rest.p;) {
        struct str value, name = str_cut(str_cut(rest, ',', &rest), '=', &value);
        if (!str_eq(name, STR("t")))
            continue;
        *ret_text = value;
        if (count++ || !str_to_u64(value, INT64_MAX, &s))
            return false;
    }
    *ret_s = (int64_t)s;
    return count == 1;
}

/* The signature of "t.body", in hexadecimal. */
static void expected_signature(struct str at, struct str body, struct str secret, struct arena *a,
                               char ret_text[static SIGNATURE_TEXT + 1])
{
    unsigned char mac[SHA256_LEN];
    char *text = arena_alloc(a, at.n + 1 + body.n);
    memcpy(text, at.p, at.n);
    text[at.n] = '.';
    if (body.n)
        memcpy(text + at.n + 1, body.p, body.n);
    crypto_hmac_sha256(secret, str_n(text, at.n + 1 + body.n), mac);
    hex_encode(mac, sizeof mac, ret_text);
}

bool stripe_signed(struct str header, struct str body, struct str secret, int64_t now_s, struct arena *a)
{
    struct str at = STR_NONE;
    int64_t at_s = 0;
    char want[SIGNATURE_TEXT + 1];
    if (header.n > HEADER_MAX || !secret.n || !signed_at(header, &at, &at_s))
        return false;
    expected_signature(at, body, secret, a, want);
    bool fits = false;
    for (struct str rest = header; rest.p;) {
        struct str value, name = str_cut(str_cut(rest, ',', &rest), '=', &value);
        if (str_eq(name, STR("v1")) && value.n == SIGNATURE_TEXT)
            fits |= crypto_equal(value.p, want, SIGNATURE_TEXT);
    }
    return fits && at_s >= now_s - STRIPE_TOLERANCE_S && at_s <= now_s + STRIPE_TOLERANCE_S;
}

/* ---- the event ---- */

/* By the prefix of the event's type: any event of these objects is a reason to read the object again. */
static enum billing_object object_of_type(struct str type)
{
    static const struct {
        struct str prefix;
        enum billing_object object;
    } known[] = {
        {{"checkout.session.", 17}, BILLING_OBJECT_SESSION},
        {{"customer.subscription.", 22}, BILLING_OBJECT_SUBSCRIPTION},
        {{"invoice.", 8}, BILLING_OBJECT_SUBSCRIPTION},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(type, known[i].prefix))
            return known[i].object;
    return BILLING_OBJECT_NONE;
}

/* The ID of an invoice's subscription; STR_NONE without one. Reads the member of API versions since 2025-03-31, and
 * the member of older ones: events have the version of the webhook endpoint, not ours. */
static struct str subscription_of_invoice(const json_t *invoice)
{
    const json_t *details = json_object_get(json_object_get(invoice, "parent"), "subscription_details");
    struct str id = stripe_reference(details, "subscription");
    return id.p ? id : stripe_reference(invoice, "subscription");
}

/* Sets the object of an event. Returns false if it is malformed. Ignores single payments, and invoices without a
 * subscription. */
static bool read_event_object(struct str type, const json_t *object, struct arena *a, struct billing_event *e)
{
    struct str mode = rest_text(object, "mode"), about = rest_text(object, "id");
    e->object = object_of_type(type);
    if (str_starts(type, STR("invoice."))) {
        about = subscription_of_invoice(object);
        if (!about.p)
            e->object = BILLING_OBJECT_NONE;
    }
    if (e->object == BILLING_OBJECT_SESSION && mode.p && !str_eq(mode, STR("subscription")))
        e->object = BILLING_OBJECT_NONE;
    if (e->object == BILLING_OBJECT_NONE)
        return true;
    e->object_id = arena_str(a, about);
    return stripe_is_id(about);
}

static bool read_event(const json_t *o, struct arena *a, struct billing_event *ret)
{
    struct str id = rest_text(o, "id"), type = rest_text(o, "type");
    const json_t *object = json_object_get(json_object_get(o, "data"), "object");
    if (!str_eq(rest_text(o, "object"), STR("event")) || !stripe_is_id(id) || !type.n || !json_is_object(object))
        return false;
    struct billing_event e = {.id = arena_str(a, id)};
    if (!read_event_object(type, object, a, &e))
        return false;
    *ret = e;
    return true;
}

bool stripe_read_event(struct str body, struct arena *a, struct billing_event *ret)
{
    json_t *o;
    if (json_read(body, &o))
        return false;
    bool fine = read_event(o, a, ret);
    json_decref(o);
    return fine;
}
