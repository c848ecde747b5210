#include "sip/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"

#define DEBUG_MODULE "portero" /* for re_dbg.h, which re.h leaves out */
#define DEBUG_LEVEL  0
#include <re/re_dbg.h>

#include "call/sound.h"
#include "call/story_task.h"
#include "sip/box.h"
#include "sip/drain.h"
#include "sip/greeting.h"
#include "sip/hearing.h"
#include "sip/listener_keys.h"
#include "sip/stack.h"
#include "sip/trace.h"
#include "sip/webrtc.h"
#include "webrtc/webrtc.h"

#define HASH_SIZE   256
#define LEAVE_MS    2000 /* at the end, for the answers to our last requests */
#define PULSE_MS    1000
#define FDS_MAX     65536 /* highest descriptor for libre's loop */
#define FDS_DEFAULT 1024  /* if the limit cannot be read */

/* ---- starting ---- */

static enum err sip_fail(struct sip_agent *a, enum err e, const char *what, int number)
{
    char text[80] = "";
    (void)snprintf(a->why, sizeof a->why, "listen.sip %s: %s%s%s", a->config->listen_sip, what, number ? ": " : "",
                   number ? str_error(number, text, sizeof text) : "");
    return e;
}

/* The limit of descriptors for libre. It accepts every TCP connection but refuses a descriptor above this limit, so the
 * last quarter stays with the store and HTTP. */
static int descriptors(void)
{
    struct rlimit limit;
    rlim_t n = getrlimit(RLIMIT_NOFILE, &limit) ? FDS_DEFAULT : limit.rlim_cur;
    n -= n / 4;
    return n > FDS_MAX ? FDS_MAX : (int)n;
}

/* Logs libre's warnings, which would go to standard error. */
static void on_warning(int level, const char *text, size_t n, void *arg)
{
    (void)level;
    (void)arg;
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\0'))
        n--;
    log_debug("sip stack: %.*s", (int)n, text);
}

static void sip_on_mail(int flags, void *arg)
{
    (void)flags;
    struct sip_agent *a = arg;
    mailbox_drain(&a->box);
}

static int make_loop(struct sip_agent *a)
{
    struct sip_stack *first = NULL;
    int e = fd_setsize(descriptors());
    if (!e)
        e = sip_sources_init(&a->sources);
    if (!e)
        e = hash_alloc(&a->dialogs, HASH_SIZE);
    if (!e)
        e = sip_nonces_init(&a->nonces);
    if (!e)
        e = sip_attempts_init(&a->attempts);
    if (!e)
        e = hash_alloc(&a->legs, HASH_SIZE);
    if (!e)
        e = sip_stack_new(a, &first);
    if (!e) {
        a->sip = first->sip;
        a->sessions = first->sessions;
    }
    if (!e)
        e = fd_listen(a->box.fd, FD_READ, sip_on_mail, a);
    return e;
}

/* Opens the trace, if one is wanted. */
static enum err open_trace(struct sip_agent *a)
{
    const char *path = a->config->voice_trace;
    if (!path || !*path || !sip_trace_open(path, &a->trace))
        return ERR_NONE;
    (void)snprintf(a->why, sizeof a->why, "voice.trace: cannot open %s: errno %d", path, errno);
    return ERR_USAGE;
}

static void on_pulse(void *arg)
{
    struct sip_agent *a = arg;
    atomic_store_explicit(&a->turned_us, clock_monotonic_us(), memory_order_relaxed);
    atomic_store_explicit(&a->calls_at_turn, a->call_count, memory_order_relaxed);
    sip_agent_tell_limited(a);
    story_repeat(false);
    tmr_start(&a->pulse_timer, PULSE_MS, on_pulse, a);
}

static enum err sip_set_up(struct sip_agent *a)
{
    struct sa want;
    const char *bad;
    rand_init();
    dbg_handler_set(on_warning, NULL);
    if (sa_decode(&want, a->config->listen_sip, strlen(a->config->listen_sip)))
        return sip_fail(a, ERR_USAGE, "not an address and port", 0);
    if (sip_peers_init(&a->peers, a->config, &bad))
        return sip_fail(a, ERR_USAGE, "voice.peers cannot be read", 0);
    if (sip_trunks_init(a, a->why, sizeof a->why) || sip_tls_init(a, a->why, sizeof a->why))
        return ERR_USAGE;
    if (a->config->production && !a->peers.restricted)
        log_warn("voice.peers is empty: any host that reaches the SIP port may call");
    if (open_trace(a))
        return ERR_USAGE;
    if (sound_init())
        return sip_fail(a, ERR_IO, "no memory", 0);
    int e = make_loop(a);
    if (!e && (tick_new(&a->tick) || greeting_start(a)))
        e = errno;
    if (e)
        return sip_fail(a, ERR_IO, "cannot start the SIP stack", e);
    e = sip_local_open(a, &want);
    if (e)
        return sip_fail(a, ERR_USAGE, "cannot listen", e);
    if (sip_webrtc_open(a))
        return ERR_USAGE;
    sip_trunks_start(a);
    sip_codes_start(a);
    sip_hearing_start(a);
    sip_listener_keys_start(a);
    on_pulse(a);
    return ERR_NONE;
}

static void sip_tear_down(struct sip_agent *a)
{
    sip_commands_close(a);
    sip_codes_end(a, NULL);
    sip_trunks_done(a);
    tmr_cancel(&a->stop_timer);
    tmr_cancel(&a->leave_timer);
    tmr_cancel(&a->pulse_timer);
    sip_listener_keys_stop(a);
    atomic_store(&a->calls_at_turn, 0);
    greeting_stop(a);
    sip_hearing_stop(a);
    list_flush(&a->ended);
    sip_box_done(a);
    sip_local_close(a);
    while (a->stacks.head)
        sip_stack_free(a->stacks.head->data);
    sip_trace_close(a->trace);
    webrtc_free(a->webrtc);
    sip_tls_done(a);
    tick_free(a->tick);
    sip_sources_done(&a->sources);
    mem_deref(a->dialogs);
    mem_deref(a->legs);
    sip_peers_done(&a->peers);
    fd_close(a->box.fd);
}

static void *sip_run(void *arg)
{
    struct sip_agent *a = arg;
    if (re_thread_init()) {
        a->start_error = sip_fail(a, ERR_IO, "no memory", 0);
        sem_post(&a->started);
        return NULL;
    }
    a->start_error = sip_set_up(a);
    bool up = !a->start_error;
    sem_post(&a->started);
    if (up) {
        int e = re_main(NULL);
        if (e)
            log_error("sip loop ended errno=%d", e);
    }
    sip_tear_down(a);
    re_thread_close();
    return NULL;
}

void sip_free(struct sip_agent *a)
{
    if (!a)
        return;
    mailbox_done(&a->box);
    sem_destroy(&a->started);
    pthread_mutex_destroy(&a->wishes.lock);
    sip_codes_done(a);
    sip_commands_done(a);
    trunk_board_free(a->board);
    story_stop();
    free(a);
}

enum err sip_start(const struct config *c, struct store *s, struct known *known, struct sip_agent **ret, char **ret_why)
{
    struct sip_agent *a = mem_new(struct sip_agent);
    a->config = c;
    a->known = known;
    a->store = s;
    a->board = trunk_board_new();
    sem_init(&a->started, 0, 0);
    pthread_mutex_init(&a->wishes.lock, NULL);
    sip_codes_init(a);
    sip_commands_init(a);
    enum err e = mailbox_init(&a->box);
    if (!e && pthread_create(&a->thread, NULL, sip_run, a))
        e = ERR_IO;
    if (e) {
        sip_free(a);
        return err_why(ret_why, e, "cannot start the SIP thread");
    }
    pthread_setname_np(a->thread, "sip");
    while (sem_wait(&a->started))
        ;
    if (a->start_error) {
        pthread_join(a->thread, NULL);
        e = err_why(ret_why, a->start_error, "%s", a->why);
        sip_free(a);
        return e;
    }
    *ret = a;
    return ERR_NONE;
}

const char *sip_address(const struct sip_agent *a)
{
    return a->address;
}

unsigned sip_pulse(const struct sip_agent *a, int64_t *ret_turned_us)
{
    *ret_turned_us = atomic_load_explicit(&a->turned_us, memory_order_relaxed);
    return atomic_load_explicit(&a->calls_at_turn, memory_order_relaxed);
}

struct trunk_board *sip_trunk_board(const struct sip_agent *a)
{
    return a->board;
}

static void on_reload(struct mail *m)
{
    sip_tls_reload(container_of(m, struct sip_agent, reload));
    container_of(m, struct sip_agent, reload)->reloading = false;
}

void sip_reload(struct sip_agent *a)
{
    if (atomic_exchange(&a->reloading, true))
        return;
    a->reload.run = on_reload;
    mailbox_post(&a->box, &a->reload);
}

/* ---- stopping ---- */

static void on_leave_timer(void *arg)
{
    struct sip_agent *a = arg;
    a->left = true;
    sip_agent_settled(a);
}

/* The last call has ended: says goodbye, and ends the loop when that was answered, or after LEAVE_MS. */
static void on_settled(struct sip_agent *a)
{
    if (!a->leaving) {
        a->leaving = true;
        tmr_start(&a->leave_timer, LEAVE_MS, on_leave_timer, a);
        sip_trunks_leave(a);
    }
    if (a->left || (!a->outgoing && !sip_trunks_leaving(a)))
        re_cancel();
}

static void on_stop(struct mail *m)
{
    struct sip_agent *a = container_of(m, struct sip_agent, stop);
    a->settled = on_settled;
    sip_codes_end(a, NULL);
    sip_drain_begin(a, a->stop_wait_ms);
}

void sip_wind_down(struct sip_agent *a, int64_t wait_ms)
{
    if (a->winding_down)
        return;
    a->winding_down = true;
    a->stop_wait_ms = wait_ms;
    a->stop.run = on_stop;
    mailbox_post(&a->box, &a->stop);
}

void sip_stop(struct sip_agent *a, int64_t wait_ms)
{
    sip_wind_down(a, wait_ms);
    pthread_join(a->thread, NULL);
    story_repeat(true);
}
