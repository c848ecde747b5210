/* Sending e-mail, by an SMTP relay or the built-in provider, behind one table of functions. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "providers/outcome.h"
#include "store/store.h"

struct mail_message {
    struct str id;            /* of the message, the same when the message is repeated */
    struct str to;            /* one address, already validated */
    struct str subject, text; /* UTF-8 */
    struct str html;          /* the text as HTML; STR_NONE without */
    struct str wav;           /* attached; STR_NONE: nothing is */
    struct str code;          /* the one-time code in the text, for the built-in provider; STR_NONE without one */
    int64_t created_us;
};

struct mailer;

struct mailer_ops {
    /* Any thread; blocks. */
    enum outcome (*send)(struct mailer *m, const struct mail_message *message);
    void (*free)(struct mailer *m);
};

/* The first member of every provider's struct. */
struct mailer {
    const struct mailer_ops *ops;
};

/* Opens the configured provider (mail.provider). ret_why as in config_load. The store must outlive it. */
enum err mailer_new(const struct config *c, struct store *store, struct mailer **ret, char **ret_why) CHECKED;
static inline void mailer_free(struct mailer *m)
{
    if (m)
        m->ops->free(m);
}

/* The providers. */
struct mailer *builtin_mailer_new(struct store *store);
/* Connects to the configured server and signs in, and sends no mail. ret_why as in config_load. Blocks. */
enum err smtp_probe(const struct config *c, char **ret_why) CHECKED;
enum err smtp_mailer_new(const struct config *c, struct mailer **ret, char **ret_why) CHECKED;
