#include "sip/local_find.h"

#include <sys/socket.h>
#include <unistd.h>

#include "sip/agent.h"
#include "sip/stack.h"

bool sip_local_from(const struct sa *to, struct sa *ret)
{
    struct sa at = *to;
    int fd = socket(sa_af(to), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (!sa_port(&at))
        sa_set_port(&at, SIP_PORT);
    ret->len = sizeof ret->u;
    bool fine = fd >= 0 && !connect(fd, &at.u.sa, at.len) && !getsockname(fd, &ret->u.sa, &ret->len);
    if (fd >= 0)
        close(fd);
    return fine;
}

struct sip_stack *sip_local_at(const struct sip_agent *a, const struct sa *address)
{
    for (struct le *le = a->stacks.head; le; le = le->next) {
        struct sip_stack *s = le->data;
        if (sa_isset(&s->bound, SA_ADDR) && sa_cmp(&s->bound, address, SA_ADDR))
            return s;
    }
    return NULL;
}

struct sip_stack *sip_local_stack(struct sip_agent *a, const struct sa *to)
{
    struct sa from;
    if (!a->local.all)
        return list_ledata(a->stacks.head);
    return sip_local_from(to, &from) ? sip_local_at(a, &from) : NULL;
}

bool sip_local_has(const struct sip_agent *a, int family)
{
    for (struct le *le = a->stacks.head; le; le = le->next)
        if (sa_af(&((struct sip_stack *)le->data)->bound) == family)
            return true;
    return false;
}
