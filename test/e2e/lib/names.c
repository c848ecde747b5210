// An LD_PRELOAD library that resolves localhost as a stock Debian does, ::1 first, on machines that say otherwise, and
// database.example to 127.0.0.1: not while the file $NAMES_SILENT exists, which stands for a name server that does not
// answer. It needs no privilege, unlike a mount over /etc/hosts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int resolver(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    resolver *real;
    struct addrinfo *second = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    const int numeric = hints && hints->ai_flags & AI_NUMERICHOST;
    if (host && strcmp(host, "database.example") == 0 && !numeric) {
        const char *silent = getenv("NAMES_SILENT");
        while (silent && access(silent, F_OK) == 0)
            usleep(100000);
        return real("127.0.0.1", service, hints, ret);
    }
    if (!host || strcmp(host, "localhost") != 0)
        return real(host, service, hints, ret);
    int e = real("::1", service, hints, ret);
    if (!e && real("127.0.0.1", service, hints, &second) == 0)
        (*ret)->ai_next = second; // both are freed with the first
    return e;
}
