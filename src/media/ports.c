#include "media/ports.h"

#include <stdlib.h>

#include "base/mem.h"
#include "media/tick.h"

#define WATCHED  32   /* at 200 calls a second, each port is watched for 160 ms */
#define STRAY_MS 1000 /* the sender of an older packet has stopped */
#define TRIES    64   /* ports that another program may have */

struct watch {
    struct udp_sock *socket; /* NULL: the port cannot be bound */
    struct media_strays strays;
};

struct media_ports {
    struct sa laddr;
    size_t size;
    uint16_t *queue;                /* a ring; position n is at n % size */
    uint64_t first, unwatched, end; /* positions: the next port, the first that is not watched, after the last */
    struct watch watches[WATCHED];  /* position n is at n % WATCHED */
};

void media_strays_note(struct media_strays *s, const struct sa *from)
{
    size_t at = 0;
    for (size_t i = 0; i < MEDIA_STRAYS; i++) {
        if (sa_cmp(&s->seen[i].from, from, SA_ALL)) {
            at = i;
            break;
        }
        if (s->seen[i].at_ms < s->seen[at].at_ms)
            at = i;
    }
    s->seen[at].from = *from;
    s->seen[at].at_ms = tick_now_ms();
}

bool media_strays_have(const struct media_strays *s, const struct sa *from)
{
    for (size_t i = 0; i < MEDIA_STRAYS; i++)
        if (sa_cmp(&s->seen[i].from, from, SA_ALL))
            return true;
    return false;
}

static void on_stray(const struct sa *src, struct mbuf *mb, void *arg)
{
    (void)mb;
    struct watch *w = arg;
    media_strays_note(&w->strays, src);
}

static void watch_next(struct media_ports *p)
{
    for (; p->unwatched < p->end && p->unwatched - p->first < WATCHED; p->unwatched++) {
        struct watch *w = &p->watches[p->unwatched % WATCHED];
        struct sa at = p->laddr;
        *w = (struct watch){0};
        sa_set_port(&at, p->queue[p->unwatched % p->size]);
        if (udp_listen(&w->socket, &at, on_stray, w))
            w->socket = NULL;
    }
}

static void append_port(struct media_ports *p, uint16_t port)
{
    p->queue[p->end++ % p->size] = port;
}

/* Those who have not stopped. */
static struct media_strays strays_of(const struct watch *w)
{
    const int64_t now_ms = tick_now_ms();
    struct media_strays s = {0};
    for (size_t i = 0; i < MEDIA_STRAYS; i++)
        if (now_ms - w->strays.seen[i].at_ms < STRAY_MS)
            s.seen[i] = w->strays.seen[i];
    return s;
}

/* ---- life ---- */

static void ports_destructor(void *arg)
{
    struct media_ports *p = arg;
    for (size_t i = 0; i < WATCHED; i++)
        mem_deref(p->watches[i].socket);
    free(p->queue);
}

/* The order is random, so that a process does not begin with the ports on which a killed one ended. */
static void fill_queue(struct media_ports *p, uint16_t low)
{
    for (size_t i = 0; i < p->size; i++)
        append_port(p, (uint16_t)(low + 2 * i));
    for (size_t i = p->size; i > 1; i--) {
        const size_t other = rand_u32() % i;
        const uint16_t port = p->queue[i - 1];
        p->queue[i - 1] = p->queue[other];
        p->queue[other] = port;
    }
}

enum err media_ports_new(struct media_ports **ret, const struct sa *laddr, uint16_t low, uint16_t high)
{
    struct media_ports *p = mem_zalloc(sizeof *p, ports_destructor);
    if (!p)
        return ERR_IO;
    low = (uint16_t)(low + low % 2);
    p->laddr = *laddr;
    if (low < high) {
        p->size = (size_t)(high - low + 1) / 2;
        p->queue = mem_array(uint16_t, p->size);
        fill_queue(p, low);
    }
    watch_next(p);
    *ret = p;
    return ERR_NONE;
}

enum err media_ports_take(struct media_ports *p, rtp_recv_h *handler, void *arg, struct rtp_sock **ret,
                          struct media_strays *ret_strays)
{
    const uint64_t end = p->end;
    for (unsigned i = 0; i < TRIES && p->first < end; i++) {
        const uint16_t port = p->queue[p->first % p->size];
        struct watch *w = &p->watches[p->first % WATCHED];
        w->socket = mem_deref(w->socket);
        p->first++;
        /* libre chooses a port below the second one at random: there is one. */
        const bool open =
            !rtp_listen(ret, IPPROTO_UDP, &p->laddr, port, (uint16_t)(port + 1), false, handler, NULL, arg);
        if (open)
            *ret_strays = strays_of(w);
        else
            append_port(p, port);
        watch_next(p);
        if (open)
            return ERR_NONE;
    }
    return ERR_IO;
}

void media_ports_give(struct media_ports *p, struct rtp_sock *rtp, const struct media_strays *refused)
{
    const uint16_t port = sa_port(rtp_local(rtp));
    const uint64_t position = p->end;
    mem_deref(rtp);
    append_port(p, port);
    watch_next(p);
    if (position < p->unwatched) /* its turn may come before they send again */
        p->watches[position % WATCHED].strays = *refused;
}
