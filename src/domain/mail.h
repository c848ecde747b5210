/* An e-mail the service means to send: a job of kind `mail`, its payload sealed, written with its cause. */
#pragma once
#include "domain/tx.h"

#define JOB_MAIL     "mail"
#define MAIL_PURPOSE "mail" /* what payloads are sealed for (crypto_open) */

struct mail_intent {
    struct str to, subject, text;
    struct str html; /* the same in HTML; STR_NONE without */
    struct str code; /* the one-time code in the text, for the sandbox; STR_NONE without one */
    int64_t created_us;
    int64_t give_up_us; /* worthless from then on */
};

enum err mail_queue(struct tx *tx, const struct mail_intent *mail) CHECKED;
/* Reads the payload back into the arena: ERR_SECRET_DECRYPT_FAILED if it was not sealed by this service. */
enum err mail_read(struct str payload, struct arena *a, struct mail_intent *ret) CHECKED;
