#include <stdlib.h>

#include "base/mem.h"
#include "providers/fault.h"
#include "providers/sms.h"

struct builtin_texter {
    struct texter texter;
    struct store *store;
};

static enum err builtin_keep_sms(void *arg, struct db *db)
{
    const struct sms_message *m = arg;
    return db_exec(db,
                   SQL(sandbox_message_insert, .id = m->id, .channel = STR("sms"), .recipient = m->to,
                       .subject = STR(""), .text = m->text, .code = m->code, .created_at = m->created_us),
                   NULL);
}

static enum outcome builtin_texter_send(struct texter *texter, const struct sms_message *message, bool *ret_number)
{
    struct builtin_texter *t = (struct builtin_texter *)texter;
    enum fault fault = fault_take("sms", "send");
    enum outcome o = fault_outcome(fault);
    if (o == OUTCOME_REFUSED)
        *ret_number = false;
    if (o != OUTCOME_DONE)
        return o;
    struct sms_message copy = *message;
    if (store_run(t->store, STORE_WRITE, builtin_keep_sms, &copy))
        return OUTCOME_UNKNOWN;
    fault_after(fault);
    return OUTCOME_DONE;
}

static void builtin_texter_free(struct texter *texter)
{
    free(texter);
}

static const struct texter_ops builtin_texter_ops = {.send = builtin_texter_send, .free = builtin_texter_free};

struct texter *builtin_texter_new(struct store *store)
{
    struct builtin_texter *t = mem_new(struct builtin_texter);
    *t = (struct builtin_texter){.texter.ops = &builtin_texter_ops, .store = store};
    return &t->texter;
}
