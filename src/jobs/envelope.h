/* The body and the signature of a webhook delivery (contract, Events). */
#pragma once
#include "base/buf.h"

#define ENVELOPE_SIGNATURE_MAX 200

struct envelope {
    struct str id, type, data; /* data is JSON */
    int64_t created_us;
};

/* Appends the text that is signed: the signature's time, a period, and the body. Returns the offset of the body. */
size_t envelope_write(const struct envelope *e, int64_t time_s, struct buf *out);
/* The line "Service-Signature: t=…" of the head begins with this, and each secret adds its MAC. */
void envelope_sign_begin(int64_t time_s, char ret[static ENVELOPE_SIGNATURE_MAX]);
void envelope_sign(struct str signed_text, struct str secret, char line[static ENVELOPE_SIGNATURE_MAX]);
