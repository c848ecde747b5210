#include <stdlib.h>

#include "base/mem.h"
#include "providers/fault.h"
#include "providers/mail.h"

struct builtin_mailer {
    struct mailer mailer;
    struct store *store;
};

static enum err builtin_keep_mail(void *arg, struct db *db)
{
    const struct mail_message *m = arg;
    return db_exec(db,
                   SQL(sandbox_message_insert, .id = m->id, .channel = STR("email"), .recipient = m->to,
                       .subject = m->subject, .text = m->text, .code = m->code, .created_at = m->created_us),
                   NULL);
}

static enum outcome builtin_mailer_send(struct mailer *mailer, const struct mail_message *message)
{
    struct builtin_mailer *m = (struct builtin_mailer *)mailer;
    enum fault fault = fault_take("mail", "send");
    enum outcome o = fault_outcome(fault);
    if (o != OUTCOME_DONE)
        return o;
    struct mail_message copy = *message;
    if (store_run(m->store, STORE_WRITE, builtin_keep_mail, &copy))
        return OUTCOME_UNKNOWN;
    fault_after(fault);
    return OUTCOME_DONE;
}

static void builtin_mailer_free(struct mailer *mailer)
{
    free(mailer);
}

static const struct mailer_ops builtin_mailer_ops = {.send = builtin_mailer_send, .free = builtin_mailer_free};

struct mailer *builtin_mailer_new(struct store *store)
{
    struct builtin_mailer *m = mem_new(struct builtin_mailer);
    *m = (struct builtin_mailer){.mailer.ops = &builtin_mailer_ops, .store = store};
    return &m->mailer;
}
