/* Tries what a process in the unit must not be able to do, and prints a line for each: the attempt, and the name of the
 * error or "done". test/package/systemd/unit.test.js runs it in place of the service. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

static void report(const char *attempt, long result)
{
    printf("%s: %s\n", attempt, result < 0 ? strerrorname_np(errno) : "done");
}

static void report_write(const char *path)
{
    printf("write ");
    report(path, open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void report_read(const char *path)
{
    printf("read ");
    report(path, open(path, O_RDONLY | O_CLOEXEC));
}

int main(void)
{
    struct timex clock = {.modes = ADJ_OFFSET};
    struct sched_param realtime = {.sched_priority = 1};

    report("memory to write and execute",
           (long)mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0);
    report("user namespace", unshare(CLONE_NEWUSER));
    report("raw socket", socket(AF_INET, SOCK_RAW, IPPROTO_UDP));
    report("packet socket", socket(AF_PACKET, SOCK_RAW, 0));
    report("internet socket", socket(AF_INET, SOCK_DGRAM, 0));
    report("local socket", socket(AF_UNIX, SOCK_DGRAM, 0));
    report("mount", mount("none", "/mnt", "tmpfs", 0, NULL));
    report("clock", adjtimex(&clock));
    report("personality", personality(PER_LINUX32));
    report("realtime", sched_setscheduler(0, SCHED_FIFO, &realtime));
    report("lower priority", setpriority(PRIO_PROCESS, 0, 19));
    report("set-user-ID file", open("/tmp/setuid", O_CREAT | O_RDWR | O_CLOEXEC, 04755));
    report("another user", setresuid(0, 0, 0));
    report("root directory", chroot("/"));
    report_write("/etc/portero/probe");
    report_write("/usr/probe");
    report_write("/var/lib/probe");
    report_write("/var/lib/portero/probe");
    report_write("/tmp/probe");
    report_write("/proc/sys/kernel/hostname");
    report_write("/sys/fs/cgroup/probe");
    report_read("/root");
    report_read("/proc/1/status");
    report_read("/proc/kmsg");
    report_read("/dev/mem");
    report_read("/etc/credstore/portero.secrets.master_key");
    return 0;
}
