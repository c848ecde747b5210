/* Sending one-time codes to phones behind one table of functions: in text messages, by Twilio or the built-in provider,
 * or in telephone calls. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "providers/outcome.h"
#include "store/store.h"

struct sms_message {
    struct str id; /* of the message, the same when the message is repeated */
    struct str to; /* E.164 */
    struct str as; /* the number of the receiver's building, which a call comes from */
    struct str text;
    struct str code; /* the one-time code in the text, for providers that need no text; STR_NONE without one */
    int64_t created_us;
};

struct texter;

struct texter_ops {
    /* Any thread; blocks. *ret_number, set if it is refused: nothing can be sent to this number. */
    enum outcome (*send)(struct texter *t, const struct sms_message *message, bool *ret_number);
    void (*free)(struct texter *t);
};

/* The first member of every provider's struct. */
struct texter {
    const struct texter_ops *ops;
};

/* Opens the configured provider (sms.provider). ret_why as in config_load. The store must outlive it. */
enum err texter_new(const struct config *c, struct store *store, struct texter **ret, char **ret_why) CHECKED;
static inline void texter_free(struct texter *t)
{
    if (t)
        t->ops->free(t);
}

/* The providers. */
struct texter *builtin_texter_new(struct store *store);
enum err twilio_texter_new(const struct config *c, struct texter **ret, char **ret_why) CHECKED;
/* No provider: refuses all. */
struct texter *no_texter_new(void);
/* Calls the phone and tells it the code, by the telephone's function, of the form of texter_ops.send, which is set
 * later.
 */
struct texter *call_texter_new(void);
/* Before the first message; no effect on other texters. `arg` must outlive the last message. */
void texter_set_call(struct texter *t, enum outcome (*call)(void *arg, const struct sms_message *m, bool *ret_number),
                     void *arg);
