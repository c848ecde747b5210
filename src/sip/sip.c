#include "sip/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"

#define DEBUG_MODULE "portero" /* for re_dbg.h, which re.h leaves out */
#define DEBUG_LEVEL  0
#include <re/re_dbg.h>

#include "call/sound.h"
#include "call/story_task.h"
#include "sip/admit.h"
#include "sip/forward.h"
#include "sip/hearing.h"
#include "sip/listener.h"
#include "sip/listener_keys.h"
#include "sip/message.h"
#include "sip/offer.h"
#include "sip/stack.h"
#include "sip/story.h"
#include "sip/tones.h"
#include "sip/trace.h"
#include "sip/webrtc.h"
#include "webrtc/webrtc.h"

#define FDS_MAX     65536 /* highest descriptor for libre's loop */
#define FDS_DEFAULT 1024  /* if the limit cannot be read */

static const struct sip_part *const call_parts[SIP_PARTS] = {
    [SIP_PART_HEARING] = &sip_hearing_part, [SIP_PART_MESSAGE] = &sip_message_part,
    [SIP_PART_FORWARD] = &sip_forward_part, [SIP_PART_LISTENERS] = &sip_listener_part,
    [SIP_PART_STORY] = &sip_story_part,     [SIP_PART_TONES] = &sip_tones_part,
    [SIP_PART_OFFER] = &sip_offer_part,     [SIP_PART_ADMIT] = &sip_admit_part,
};

/* ---- starting ---- */

static enum err sip_fail(struct sip_agent *a, enum err e, const char *what, int number)
{
    char text[80] = "";
    (void)snprintf(a->thread.why, sizeof a->thread.why, "listen.sip %s: %s%s%s", a->config->listen_sip, what,
                   number ? ": " : "", number ? str_error(number, text, sizeof text) : "");
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
    a->descriptors = descriptors();
    int e = fd_setsize(a->descriptors);
    if (!e)
        e = sip_sources_init(&a->sources);
    if (!e)
        e = sip_dialogs_init(&a->dialogs);
    if (!e)
        e = sip_box_init(a);
    if (!e)
        e = sip_stack_new(a, &first);
    if (!e)
        a->sip = first->sip;
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
    (void)snprintf(a->thread.why, sizeof a->thread.why, "voice.trace: cannot open %s: errno %d", path, errno);
    return ERR_USAGE;
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
    if (sip_trunks_init(a, a->thread.why, sizeof a->thread.why) || sip_tls_init(a, a->thread.why, sizeof a->thread.why))
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
    if (sip_webrtc_open(a, a->thread.why, sizeof a->thread.why))
        return ERR_USAGE;
    sip_trunks_start(a);
    sip_codes_start(a);
    sip_hearing_start(a);
    sip_listener_keys_start(a);
    sip_pulse_start(a);
    return ERR_NONE;
}

static void sip_tear_down(struct sip_agent *a)
{
    sip_commands_close(a);
    sip_codes_end(a, NULL);
    sip_trunks_done(a);
    sip_drain_done(&a->drain);
    sip_pulse_stop(a);
    sip_listener_keys_stop(a);
    greeting_stop(a);
    sip_hearing_stop(a);
    sip_dialogs_flush(&a->dialogs);
    sip_box_done(a);
    sip_local_close(a);
    while (a->stacks.head)
        sip_stack_free(a->stacks.head->data);
    sip_trace_close(a->trace);
    webrtc_free(a->webrtc);
    sip_tls_done(a);
    tick_free(a->tick);
    sip_sources_done(&a->sources);
    sip_dialogs_done(&a->dialogs);
    sip_peers_done(&a->peers);
    fd_close(a->box.fd);
}

static void *sip_run(void *arg)
{
    struct sip_agent *a = arg;
    if (re_thread_init()) {
        a->thread.error = sip_fail(a, ERR_IO, "no memory", 0);
        sem_post(&a->thread.started);
        return NULL;
    }
    a->thread.error = sip_set_up(a);
    bool up = !a->thread.error;
    sem_post(&a->thread.started);
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
    sem_destroy(&a->thread.started);
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
    a->parts = call_parts;
    sem_init(&a->thread.started, 0, 0);
    pthread_mutex_init(&a->wishes.lock, NULL);
    sip_codes_init(a);
    sip_commands_init(a);
    enum err e = mailbox_init(&a->box);
    if (!e && pthread_create(&a->thread.id, NULL, sip_run, a))
        e = ERR_IO;
    if (e) {
        sip_free(a);
        return err_why(ret_why, e, "cannot start the SIP thread");
    }
    pthread_setname_np(a->thread.id, "sip");
    while (sem_wait(&a->thread.started))
        ;
    if (a->thread.error) {
        pthread_join(a->thread.id, NULL);
        e = err_why(ret_why, a->thread.error, "%s", a->thread.why);
        sip_free(a);
        return e;
    }
    *ret = a;
    return ERR_NONE;
}

const char *sip_address(const struct sip_agent *a)
{
    return a->local.address;
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

void sip_stop(struct sip_agent *a, int64_t wait_ms)
{
    sip_wind_down(a, wait_ms);
    pthread_join(a->thread.id, NULL);
    story_repeat(true);
}
