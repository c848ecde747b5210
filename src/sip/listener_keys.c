#include "sip/listener_keys.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "domain/key_life.h"
#include "sip/listener.h"

#define ASK_MS   1000
#define KEYS_MAX 512 /* as WEBRTC_SESSIONS_MAX */

struct question {
    struct store_task task;
    struct mail mail;
    struct sip_agent *agent;
    enum err result;
    size_t count, ended_count;
    struct listener_key keys[KEYS_MAX];
    struct id ended[KEYS_MAX];
};

static void ask(void *arg);

/* ---- on a store thread ---- */

static enum err question_run(struct store_task *task, struct db *db)
{
    struct question *q = container_of(task, struct question, task);
    struct tx tx = {.db = db, .config = q->agent->config, .now_us = clock_now_us()};
    enum err e = ERR_NONE;
    q->ended_count = 0;
    for (size_t i = 0; i < q->count && !e; i++) {
        bool lives;
        e = key_lives(&tx, &q->keys[i].account_id, &q->keys[i].key_id, &lives);
        if (!e && !lives)
            q->ended[q->ended_count++] = q->keys[i].key_id;
    }
    return e;
}

/* ---- on the agent's thread ---- */

/* Dropping a listener may end its call, which leaves the list. */
static void drop_key(struct sip_agent *a, const struct id *key)
{
    struct le *le = a->dialogs.calls.head;
    while (le) {
        struct sip_call *c = le->data;
        le = le->next;
        sip_listeners_drop_key(c, key);
    }
}

static void question_answered(struct mail *m)
{
    struct question *q = container_of(m, struct question, mail);
    struct sip_agent *a = q->agent;
    for (size_t i = 0; i < q->ended_count && !q->result; i++)
        drop_key(a, &q->ended[i]);
    free(q);
    a->drain.asking--;
    tmr_start(&a->keys_timer, ASK_MS, ask, a);
    sip_agent_settled(a);
}

static void question_done(struct store_task *task, enum err result)
{
    struct question *q = container_of(task, struct question, task);
    q->result = result;
    q->mail.run = question_answered;
    mailbox_post(&q->agent->box, &q->mail);
}

static size_t list_keys(const struct sip_agent *a, struct listener_key ret[static KEYS_MAX])
{
    size_t n = 0;
    for (const struct le *le = a->dialogs.calls.head; le && n + SIP_LISTENERS_MAX <= KEYS_MAX; le = le->next)
        n += sip_listeners_keys(le->data, ret + n);
    return n;
}

static bool has_listeners(const struct sip_agent *a)
{
    for (const struct le *le = a->dialogs.calls.head; le; le = le->next)
        if (((const struct sip_call *)le->data)->listeners.head)
            return true;
    return false;
}

static void ask(void *arg)
{
    struct sip_agent *a = arg;
    if (!has_listeners(a)) {
        tmr_start(&a->keys_timer, ASK_MS, ask, a);
        return;
    }
    struct question *q = mem_new(struct question);
    q->agent = a;
    q->count = list_keys(a, q->keys);
    q->task = (struct store_task){.mode = STORE_READ, .run = question_run, .done = question_done};
    a->drain.asking++;
    store_submit(a->store, &q->task);
}

void sip_listener_keys_start(struct sip_agent *a)
{
    tmr_start(&a->keys_timer, ASK_MS, ask, a);
}

void sip_listener_keys_stop(struct sip_agent *a)
{
    tmr_cancel(&a->keys_timer);
}
