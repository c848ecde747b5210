#include "cli/starting.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/absence.h"

#define MUTE_US   (5 * US_PER_S)  /* a start that takes longer says what it waits for */
#define AGAIN_US  US_PER_S        /* and says it again when it waits for another */
#define REMIND_US (60 * US_PER_S) /* and for the same */
#define GRACE_US  (3 * US_PER_S)  /* for a start that a signal ends */

static struct {
    pthread_t thread;
    void (*reason)(char *ret, size_t size);
    char said[500];
    int64_t said_us;
    int signals, ended; /* descriptors */
    int got;            /* the first signal */
} watch;

static void end_at_once(void)
{
    if (watch.got == 0)
        return;
    log_info("stopped during=start");
    _exit(EXIT_SUCCESS);
}

/* A second signal acts as one that nobody waits for. */
static void note_signal(void)
{
    struct signalfd_siginfo info;
    char unused[1];
    if (read(watch.signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (watch.got) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, (int)info.ssi_signo);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        raise((int)info.ssi_signo);
    }
    watch.got = (int)info.ssi_signo;
    log_info("stopping signal=%s during=start", sigabbrev_np(watch.got));
    if (absence_reason(unused, sizeof unused))
        end_at_once();
}

static void say_reason(void)
{
    char reason[sizeof watch.said];
    watch.reason(reason, sizeof reason);
    const int64_t now_us = clock_monotonic_us();
    if (strcmp(reason, watch.said) == 0 && now_us < watch.said_us + REMIND_US)
        return;
    log_warn("waiting for %s", reason);
    watch.said_us = now_us;
    memcpy(watch.said, reason, sizeof reason);
}

/* Sleeps until a signal arrives or the time is reached. Returns false when the start has ended. */
static bool wait_until(int64_t at_us, bool *ret_signal)
{
    struct pollfd fds[] = {{.fd = watch.ended, .events = POLLIN}, {.fd = watch.signals, .events = POLLIN}};
    const int64_t left_us = at_us - clock_monotonic_us();
    const int ms = left_us > 0 ? (int)(left_us / 1000) + 1 : 0;
    (void)poll(fds, 2, ms);
    *ret_signal = fds[1].revents != 0;
    return fds[0].revents == 0;
}

static void *watch_start(void *unused)
{
    (void)unused;
    int64_t at_us = clock_monotonic_us() + MUTE_US;
    bool signal;
    while (wait_until(at_us, &signal)) {
        if (signal) {
            note_signal();
            at_us = clock_monotonic_us() + GRACE_US;
        } else if (clock_monotonic_us() >= at_us) {
            end_at_once();
            say_reason();
            at_us = clock_monotonic_us() + AGAIN_US;
        }
    }
    return NULL;
}

enum err starting_watch(void (*reason)(char *ret, size_t size))
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    watch.reason = reason;
    watch.got = 0;
    watch.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    watch.ended = eventfd(0, EFD_CLOEXEC);
    if (watch.signals >= 0 && watch.ended >= 0 && pthread_create(&watch.thread, NULL, watch_start, NULL) == 0)
        return ERR_NONE;
    if (watch.signals >= 0)
        close(watch.signals);
    if (watch.ended >= 0)
        close(watch.ended);
    return ERR_IO;
}

int starting_ended(void)
{
    (void)eventfd_write(watch.ended, 1);
    pthread_join(watch.thread, NULL);
    close(watch.signals);
    close(watch.ended);
    return watch.got;
}
