#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static sigset_t awaited(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

/* With one of the three closed, the next file that is opened would take its place and receive the log. */
void process_open_standard(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) /* without O_CLOEXEC: children inherit them */
        ;
    if (fd >= 0)
        close(fd);
}

void process_prepare(bool secretive)
{
    struct rlimit files;
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (secretive) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
}

void signals_hold(void)
{
    sigset_t set = awaited();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int signals_wait(void)
{
    sigset_t set = awaited();
    int got = 0;
    while (sigwait(&set, &got) != 0)
        ;
    return got;
}

void signals_release(void)
{
    sigset_t set = awaited();
    sigdelset(&set, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
