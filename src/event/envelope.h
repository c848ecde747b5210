/* The body and the headers of a webhook delivery, by its form (contract, Events, and Versioning 3). */
#pragma once
#include "base/buf.h"

/* The forms of deliveries: the contract's, Events, and the earlier revision's, Versioning 3. */
enum delivery_form { DELIVERY_CURRENT, DELIVERY_EARLIER, DELIVERY_EARLIER_TEST, DELIVERY_FORMS };

#define ENVELOPE_SIGNATURE_MAX 200
#define ENVELOPE_LINE_MAX      80
#define ENVELOPE_LINES         2

struct envelope {
    enum delivery_form form;
    struct str id, type, data; /* data is JSON */
    struct str building_id;    /* of the earlier revision */
    int64_t created_us;
};

/* Appends the text that is signed: the signature's time, a period, and the body. Returns the offset of the body. */
size_t envelope_write(const struct envelope *e, int64_t time_s, struct buf *out);
/* The form's further lines of the head; "" from the first on that it does not have. */
void envelope_head(const struct envelope *e, char ret[static ENVELOPE_LINES][ENVELOPE_LINE_MAX]);
/* The line "Service-Signature: t=…" of the head begins with this, and each secret adds its MAC. */
void envelope_sign_begin(enum delivery_form form, int64_t time_s, char ret[static ENVELOPE_SIGNATURE_MAX]);
void envelope_sign(struct str signed_text, struct str secret, char line[static ENVELOPE_SIGNATURE_MAX]);
