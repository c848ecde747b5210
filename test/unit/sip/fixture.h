/* A SIP user agent on loopback, in front of the fake domain. Include it in one file of a test. A test may change
 * agent_config before agent_set_up. */
#pragma once
#include <semaphore.h>

#include "base/container_of.h"
#include "media/raw_sip.h"
#include "sip/agent.h"
#include "sip/fake_domain.h"

static struct config agent_config = {
    .listen_sip = "127.0.0.1:0",
    .voice_tone_ms = 60,
    .voice_tone_gap_ms = 60,
    .voice_digest = "off",
    .voice_calls = 8,
    .voice_rtp_port_low = 16384,
    .voice_rtp_port_high = 32767,
    .voice_calls_per_source = 4,
    .voice_forwards_per_building = 100,
};

static struct sip_agent *agent;

/* Starts another agent; the caller stops and frees it. */
static inline struct sip_agent *start_agent(const struct config *c)
{
    struct sip_agent *a;
    char *why = NULL;
    if (sip_start(c, NULL, NULL, &a, &why)) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    return a;
}

static inline int agent_set_up(void **state)
{
    (void)state;
    fake_start();
    fake_reset();
    agent = start_agent(&agent_config);
    return 0;
}

static inline int agent_tear_down(void **state)
{
    (void)state;
    sip_stop(agent, 0);
    sip_free(agent);
    fake_stop();
    return 0;
}

/* ---- on the agent's thread ---- */

struct agent_task {
    struct mail mail;
    void (*run)(void *arg);
    void *arg;
    sem_t done;
};

static inline void run_agent_task(struct mail *m)
{
    struct agent_task *t = container_of(m, struct agent_task, mail);
    t->run(t->arg);
    sem_post(&t->done);
}

static inline void begin_agent_task(struct agent_task *t, void (*run)(void *arg), void *arg)
{
    *t = (struct agent_task){.mail = {.run = run_agent_task}, .run = run, .arg = arg};
    sem_init(&t->done, 0, 0);
    mailbox_post(&agent->box, &t->mail);
}

static inline void await_agent_task(struct agent_task *t)
{
    while (sem_wait(&t->done))
        ;
    sem_destroy(&t->done);
}

static inline void run_on_agent(void (*run)(void *arg), void *arg)
{
    struct agent_task t;
    begin_agent_task(&t, run, arg);
    await_agent_task(&t);
}

static inline void count_calls(void *arg)
{
    *(unsigned *)arg = agent->dialogs.count;
}

static inline unsigned agent_calls(void)
{
    unsigned n;
    run_on_agent(count_calls, &n);
    return n;
}

/* Waits until n calls are in progress. */
static inline void wait_for_calls(unsigned n)
{
    for (int i = 0; i < RAW_PATIENCE_MS / 10 && agent_calls() != n; i++)
        usleep(10000);
    assert_int_equal(agent_calls(), n);
}

/* Waits until the fake domain was asked about n codes. */
static inline void wait_for_codes(int n)
{
    for (int i = 0; i < RAW_PATIENCE_MS / 10 && fake_count(&fake.code_count) < n; i++)
        usleep(10000);
    assert_int_equal(fake_count(&fake.code_count), n);
}

/* Waits until the fake domain was asked about n calls that arrived. */
static inline void wait_for_decisions(int n)
{
    for (int i = 0; i < RAW_PATIENCE_MS / 10 && fake_count(&fake.arrived) < n; i++)
        usleep(10000);
    assert_int_equal(fake_count(&fake.arrived), n);
}
