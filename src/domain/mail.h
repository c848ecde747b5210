/* E-mails to be sent: jobs of kind `mail` with a sealed payload, written in the transaction of their cause. */
#pragma once
#include "domain/tx.h"

#define JOB_MAIL     "mail"
#define MAIL_PURPOSE "mail" /* the purpose that payloads are sealed for (crypto_seal) */

struct mail_intent {
    struct str to, subject, text;
    struct str html;     /* the same in HTML; STR_NONE: text only */
    struct str language; /* of the text; STR_NONE: English */
    struct str code;     /* the one-time code in the text, for the sandbox; STR_NONE: no code */
    struct id building_id,
        message_of; /* building and call of a visitor's message, which is attached; empty: nothing is */
    int64_t created_us;
    int64_t give_up_us; /* not sent after that */
};

/* Ends the text with mail_privacy(). */
enum err mail_queue(struct tx *tx, const struct mail_intent *mail) CHECKED;
/* The lines of section `privacy`, in the arena; "" if the configuration has none. */
struct str mail_privacy(const struct tx *tx, struct str language);
/* Reads a payload into the arena. Fails with ERR_SECRET_DECRYPT_FAILED if no configured key opens it. */
enum err mail_read(struct str payload, struct arena *a, struct mail_intent *ret) CHECKED;
