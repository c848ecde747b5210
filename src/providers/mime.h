/* The parts of an e-mail's header that need care (RFC 5322, RFC 2047). */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

/* The address of a mailbox: "portero@localhost" of "Portero <portero@localhost>". STR_NONE without one. */
struct str mime_address(struct str mailbox);
/* Is s free of control characters, and thus safe in a header or a command? */
bool mime_clean(struct str s);
/* Unstructured text for a header: unchanged if it is ASCII, otherwise as encoded words of UTF-8. */
struct str mime_text(struct arena *a, struct str s);
/* A mailbox for a header: its display name as mime_text, quoted if RFC 5322 requires it. */
struct str mime_mailbox(struct arena *a, struct str mailbox);
/* "Fri, 20 Nov 2026 09:30:00 +0000" */
struct str mime_date(struct arena *a, int64_t at_us);
/* The end of the header and the body of a message in two forms, text and HTML: multipart/alternative. */
void mime_put_alternative(struct buf *b, struct str text, struct str html);
/* The end of the header and the body of a text message with a WAV file: multipart/mixed. */
void mime_put_with_wav(struct buf *b, struct str text, struct str wav);
/* The end of the header and the body of a text message: unchanged if it is ASCII in short lines, otherwise in base64.
 */
void mime_put_body(struct buf *b, struct str text);
