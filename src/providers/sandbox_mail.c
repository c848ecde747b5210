#include <stdlib.h>

#include "providers/fault.h"
#include "providers/mail.h"

struct sandbox_mailer {
    struct mailer mailer;
    struct store *store;
};

static enum err keep(void *arg, struct db *db)
{
    const struct mail_message *m = arg;
    return db_exec(db, SQL_SANDBOX_MESSAGE_INSERT,
                   DB_ARGS(v_str(m->id), v_str(STR("email")), v_str(m->to), v_str(m->subject), v_str(m->text),
                           v_str(m->code), v_int(m->created_us)),
                   NULL);
}

static enum outcome sandbox_send(struct mailer *mailer, const struct mail_message *message)
{
    struct sandbox_mailer *m = (struct sandbox_mailer *)mailer;
    enum fault fault = fault_take("mail", "send");
    enum outcome o = fault_outcome(fault);
    if (o != OUTCOME_DONE)
        return o;
    struct mail_message copy = *message;
    if (store_run(m->store, STORE_WRITE, keep, &copy))
        return OUTCOME_UNKNOWN;
    fault_after(fault);
    return OUTCOME_DONE;
}

static void sandbox_free(struct mailer *mailer)
{
    free(mailer);
}

static const struct mailer_ops sandbox_ops = {.send = sandbox_send, .free = sandbox_free};

enum err sandbox_mailer_new(struct store *store, struct mailer **ret)
{
    struct sandbox_mailer *m = calloc(1, sizeof *m);
    if (!m)
        return ERR_IO;
    *m = (struct sandbox_mailer){.mailer.ops = &sandbox_ops, .store = store};
    *ret = &m->mailer;
    return ERR_NONE;
}
