#include "sip/command.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/mem.h"
#include "base/wait.h"
#include "sip/agent.h"
#include "sip/call_perform.h"
#include "sip/listener.h"

#define AGAIN_US 10000

/* Belongs to the agent's thread and to the thread that waits; the last one frees it. */
struct command {
    struct mail mail;
    struct sip_agent *agent;
    struct call_command asked;
    bool left, known; /* under the lock: the thread waits no more; with `result` */
    enum err result;
    struct call_command_result details;
    char *offer; /* of `asked` */
};

static void free_command(struct command *c)
{
    free(c->offer);
    free(c);
}

/* ---- on the agent's thread ---- */

/* Fails with ERR_NOT_FOUND, or with ERR_RETRY while it is not known yet whose call it is: clients are told of a call as
 * soon as that is committed, which may be before this thread knows. */
static enum err find_commanded(const struct sip_agent *a, const struct call_command *command, struct sip_call **ret)
{
    for (struct le *le = a->dialogs.calls.head; le; le = le->next) {
        struct sip_call *c = le->data;
        if (!id_equal(&c->story.arrival.id, &command->call_id))
            continue;
        if (!id_given(&c->machine.building_id) && c->machine.state != CALL_OVER)
            return ERR_RETRY;
        *ret = c;
        return id_equal(&c->machine.building_id, &command->building_id) ? ERR_NONE : ERR_NOT_FOUND;
    }
    return ERR_NOT_FOUND;
}

static enum err listen_to(struct sip_call *c, const struct call_command *command, struct call_command_result *ret)
{
    const enum err e = sip_listener_add(c, command, ret);
    if (!e)
        sip_call_pick_up(c);
    return e;
}

static enum err perform(struct sip_agent *a, const struct call_command *command, struct call_command_result *ret)
{
    struct sip_call *c;
    const enum err e = find_commanded(a, command, &c);
    if (e)
        return e;
    switch (command->kind) {
    case CALL_COMMAND_OPEN:
        story_opener(&c->story, &command->key_id, command->person);
        return sip_call_open(c);
    case CALL_COMMAND_LISTEN:
        return listen_to(c, command, ret);
    case CALL_COMMAND_ANSWER:
        return sip_listener_take(c, &command->listener_id, ret);
    case CALL_COMMAND_LEAVE:
        return sip_listener_leave(c, &command->listener_id, ret);
    }
    return ERR_NOT_FOUND;
}

static void on_command(struct mail *m)
{
    struct command *c = container_of(m, struct command, mail);
    struct sip_commands *commands = &c->agent->commands;
    const enum err result = perform(c->agent, &c->asked, &c->details);
    pthread_mutex_lock(&commands->lock);
    const bool left = c->left;
    c->result = result;
    c->known = true;
    pthread_cond_broadcast(&commands->changed);
    pthread_mutex_unlock(&commands->lock);
    if (left) { /* a listener that nobody knows is gone after a while */
        free(c->details.answer);
        free_command(c);
    }
}

/* ---- the thread that asks ---- */

static enum err ask_agent(struct sip_agent *a, const struct call_command *command, int64_t until_us,
                          struct call_command_result *ret)
{
    *ret = (struct call_command_result){.why = NULL};
    struct sip_commands *commands = &a->commands;
    pthread_mutex_lock(&commands->lock);
    if (commands->closed) {
        pthread_mutex_unlock(&commands->lock);
        return ERR_NOT_FOUND;
    }
    struct command *c = mem_new(struct command);
    *c = (struct command){.mail.run = on_command, .agent = a, .asked = *command};
    c->offer = mem_strndup(command->offer.p ? command->offer.p : "", command->offer.n);
    c->asked.offer = str_n(c->offer, command->offer.n);
    mailbox_post(&a->box, &c->mail);
    while (!c->known && cond_wait_until(&commands->changed, &commands->lock, until_us))
        ;
    const bool known = c->known;
    const enum err result = known ? c->result : ERR_CALL_UNREACHABLE;
    c->left = true;
    pthread_mutex_unlock(&commands->lock);
    if (known) {
        *ret = c->details;
        free_command(c);
    }
    return result;
}

enum err sip_command(struct sip_agent *a, const struct call_command *command, struct call_command_result *ret)
{
    const int64_t until_us = clock_monotonic_us() + CALL_COMMAND_WAIT_US;
    enum err e;
    while ((e = ask_agent(a, command, until_us, ret)) == ERR_RETRY && clock_monotonic_us() < until_us)
        usleep(AGAIN_US);
    return e == ERR_RETRY ? ERR_CALL_UNREACHABLE : e;
}

/* ---- life ---- */

void sip_commands_init(struct sip_agent *a)
{
    pthread_mutex_init(&a->commands.lock, NULL);
    cond_init(&a->commands.changed);
}

void sip_commands_close(struct sip_agent *a)
{
    pthread_mutex_lock(&a->commands.lock);
    a->commands.closed = true;
    pthread_mutex_unlock(&a->commands.lock);
    mailbox_drain(&a->box);
}

void sip_commands_done(struct sip_agent *a)
{
    pthread_cond_destroy(&a->commands.changed);
    pthread_mutex_destroy(&a->commands.lock);
}
