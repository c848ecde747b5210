/* Messages that visitors leave when nobody answers (`ring.message`; CALL-39, CALL-40). Kept sealed for as long as
 * the record of the call. The owner gets each by mail. */
#pragma once
#include "domain/tx.h"

#define MESSAGE_PURPOSE   "message"              /* of the sealed audio */
#define MESSAGE_BYTES_MAX 500000                 /* of a WAV file: 30 s of 16 bits at 8 kHz */
#define MESSAGES_KEPT     50                     /* of a building: the newest */
#define MESSAGE_MAILED_US (24 * 3600 * US_PER_S) /* the mail is tried for this long */

struct call_message {
    struct id call_id, building_id;
    struct str caller; /* E.164, or "" */
    struct str wav;    /* at most MESSAGE_BYTES_MAX */
    int64_t seconds;
};

/* Keeps the message and queues the mail. A second message of a call is dropped. Fails with ERR_NOT_FOUND if the
 * building was deleted. */
enum err call_message_add(struct tx *tx, const struct call_message *message) CHECKED;
/* The WAV file, in the arena. Fails with ERR_NOT_FOUND, or ERR_SECRET_DECRYPT_FAILED if no configured key opens it. */
enum err call_message_get(struct tx *tx, const struct id *building, const struct id *call, struct str *ret) CHECKED;
/* Deletes at most `limit` messages of calls that started before the second of before_us. */
enum err call_message_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
