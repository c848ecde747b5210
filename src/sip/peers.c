#include "sip/peers.h"

#include <linux/filter.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "media/tick.h"

#define TELL_MS 10000 /* between two lines in the log */
#define FLOOD   100   /* dropped messages between two such lines that start the kernel's filter */
#define FDS_MAX 65536 /* the listening socket is opened at the start, so its number is low */

static size_t length(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

enum err sip_peers_init(struct sip_peers *p, const struct config *c, const char **ret_bad)
{
    *p = (struct sip_peers){.config = c};
    size_t count = length(c->voice_peers), n = 0;
    for (size_t i = 0; i < c->peer_count; i++)
        count += length(c->peers[i].addresses);
    const char **all = mem_array(const char *, count + 1);
    for (size_t i = 0; i < length(c->voice_peers); i++)
        all[n++] = c->voice_peers[i];
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < c->peer_count; i++) {
        e = net_cidrs_parse(c->peers[i].addresses, &p->named[i], ret_bad);
        for (size_t k = 0; k < length(c->peers[i].addresses); k++)
            all[n++] = c->peers[i].addresses[k];
    }
    if (!e)
        e = net_cidrs_parse(all, &p->allowed, ret_bad);
    free(all);
    p->restricted = c->peer_count || p->allowed.count;
    p->configured = p->allowed.count;
    if (!e && c->peer_count)
        mem_resize(p->allowed.list, count + c->peer_count * SIP_PEERS_LEARNED + 1);
    return e;
}

void sip_peers_done(struct sip_peers *p)
{
    tmr_cancel(&p->filtered);
    net_cidrs_done(&p->allowed);
    for (size_t i = 0; i < CONFIG_PEERS_MAX; i++)
        net_cidrs_done(&p->named[i]);
}

static struct net_address peer_address(const struct sa *sa)
{
    struct sockaddr_storage s = {0};
    memcpy(&s, &sa->u, sizeof sa->u);
    return net_address_of(&s);
}

const struct config_peer *sip_peers_find(const struct sip_peers *p, const struct sa *from)
{
    struct net_address a = peer_address(from);
    for (size_t i = 0; i < p->config->peer_count; i++)
        if (net_cidrs_contain(&p->named[i], &a))
            return &p->config->peers[i];
    for (size_t i = 0; i < p->config->peer_count; i++)
        for (size_t k = 0; k < p->learned_count[i]; k++)
            if (memcmp(&p->learned[i][k].address, &a, sizeof a) == 0)
                return &p->config->peers[i];
    return NULL;
}

/* Whether requests from all addresses are read. */
static bool is_open(const struct sip_peers *p)
{
    return !p->restricted || strcmp(p->config->voice_digest, "strangers") == 0;
}

/* ---- the kernel's filter ---- */

#define IPV4_SOURCE   12 /* bytes into the header */
#define IPV6_SOURCE   8
#define WORDS         4
#define BLOCK_MAX     (3 * WORDS + 1) /* instructions for one block */
#define PROGRAM_MAX   BPF_MAXINSNS
#define TAKE          0xffffffff
#define HEADER(at)    ((uint32_t)SKF_NET_OFF + (at))
#define MAPPED_PREFIX 96 /* bits of an IPv4-mapped address before the IPv4 one */

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short n;
};

static void emit(struct program *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    p->code[p->n++] = (struct sock_filter){code, yes, no, k};
}

static uint32_t filter_word(const struct net_address *a, unsigned i)
{
    uint32_t w;
    memcpy(&w, a->bytes + sizeof w * i, sizeof w);
    return ntohl(w);
}

static uint32_t filter_mask(unsigned bits)
{
    return bits ? UINT32_MAX << (32 - bits) : 0;
}

/* The significant bits of the block's i-th word. */
static unsigned filter_bits(const struct net_cidr *c, unsigned i)
{
    unsigned before = 32 * i;
    if (c->bits <= before)
        return 0;
    return c->bits - before < 32 ? c->bits - before : 32;
}

/* Emits code that accepts an address in the block and otherwise continues after itself. Compares the significant words
 * from `first` on; `at` is the offset of that word in the header. */
static void emit_block(struct program *p, const struct net_cidr *c, unsigned first, unsigned at)
{
    unsigned last = first;
    while (last < WORDS && filter_bits(c, last))
        last++;
    for (unsigned i = first; i < last; i++) {
        uint32_t mask = filter_mask(filter_bits(c, i));
        emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, HEADER(at + 4 * (i - first)));
        emit(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(3 * (last - 1 - i) + 1), filter_word(&c->address, i) & mask);
    }
    emit(p, BPF_RET | BPF_K, 0, 0, TAKE);
}

/* Whether the block contains IPv4-mapped addresses. */
static bool holds_ipv4(const struct net_cidr *c)
{
    static const uint32_t prefix[] = {0, 0, 0xffff};
    for (unsigned i = 0; i < MAPPED_PREFIX / 32; i++) {
        uint32_t mask = filter_mask(filter_bits(c, i));
        if ((filter_word(&c->address, i) & mask) != (prefix[i] & mask))
            return false;
    }
    return true;
}

static bool compile(const struct net_cidrs *allowed, struct program *p)
{
    if (allowed->count * 2 * BLOCK_MAX + 6 > PROGRAM_MAX)
        return false;
    p->n = 0;
    emit(p, BPF_LD | BPF_B | BPF_ABS, 0, 0, HEADER(0));
    emit(p, BPF_ALU | BPF_RSH | BPF_K, 0, 0, 4);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4);
    unsigned short to_ipv6 = p->n;
    emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
    for (size_t i = 0; i < allowed->count; i++)
        if (holds_ipv4(&allowed->list[i]))
            emit_block(p, &allowed->list[i], WORDS - 1, IPV4_SOURCE);
    emit(p, BPF_RET | BPF_K, 0, 0, 0);
    p->code[to_ipv6].k = (uint32_t)(p->n - to_ipv6 - 1);
    for (size_t i = 0; i < allowed->count; i++)
        emit_block(p, &allowed->list[i], 0, IPV6_SOURCE);
    emit(p, BPF_RET | BPF_K, 0, 0, 0);
    return true;
}

static bool attach(const struct net_cidrs *allowed, int fd)
{
    struct program program;
    if (!compile(allowed, &program))
        return false;
    const struct sock_fprog attached = {.len = program.n, .filter = program.code};
    return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &attached, sizeof attached);
}

static bool listens_on(int fd, const struct sa *bound)
{
    int listening = 0, protocol = 0;
    socklen_t n = sizeof listening, m = sizeof protocol;
    struct sa at;
    at.len = sizeof at.u;
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n) && listening &&
           !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &m) && protocol == IPPROTO_TCP &&
           !getsockname(fd, &at.u.sa, &at.len) && sa_cmp(&at, bound, SA_ALL);
}

/* libre does not expose its listening socket, so search the descriptors for it. */
bool sip_peers_filter(struct sip_peers *p, const struct sa *bound)
{
    int fd = 0;
    if (is_open(p))
        return true;
    while (fd < FDS_MAX && !listens_on(fd, bound))
        fd++;
    if (fd == FDS_MAX || p->listening_count == ARRAY_SIZE(p->listening) || !attach(&p->allowed, fd))
        return false;
    p->listening[p->listening_count++] = fd;
    return true;
}

static void detach(int fd)
{
    int unused = 0;
    (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}

/* ---- addresses of trunks ---- */

/* The place of the address, or of the one seen longest ago. */
static struct sip_learned *place_for(struct sip_peers *p, size_t peer, const struct net_address *a)
{
    struct sip_learned *oldest = &p->learned[peer][0];
    for (size_t i = 0; i < p->learned_count[peer]; i++) {
        struct sip_learned *l = &p->learned[peer][i];
        if (memcmp(&l->address, a, sizeof *a) == 0)
            return l;
        if (l->seen_ms < oldest->seen_ms)
            oldest = l;
    }
    return p->learned_count[peer] < SIP_PEERS_LEARNED ? &p->learned[peer][p->learned_count[peer]++] : oldest;
}

static void attach_all(const struct sip_peers *p, const int *sockets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!attach(&p->allowed, sockets[i]))
            detach(sockets[i]);
}

static void allow_learned(struct sip_peers *p)
{
    p->allowed.count = p->configured;
    for (size_t i = 0; i < p->config->peer_count; i++)
        for (size_t k = 0; k < p->learned_count[i]; k++)
            p->allowed.list[p->allowed.count++] = (struct net_cidr){.address = p->learned[i][k].address, .bits = 128};
    attach_all(p, p->listening, p->listening_count);
    if (tmr_isrunning(&p->filtered))
        attach_all(p, p->udp, p->udp_count);
}

void sip_peers_learn(struct sip_peers *p, const struct config_peer *peer, const struct sa *addresses, size_t count)
{
    const size_t index = (size_t)(peer - p->config->peers);
    const int64_t now_ms = tick_now_ms();
    bool news = false;
    for (size_t i = 0; i < count; i++) {
        const struct net_address a = peer_address(&addresses[i]);
        struct sip_learned *l = place_for(p, index, &a);
        news = news || memcmp(&l->address, &a, sizeof a) != 0;
        *l = (struct sip_learned){.address = a, .seen_ms = now_ms};
    }
    if (news)
        allow_learned(p);
}

/* ---- datagrams ---- */

static void on_filtered(void *arg)
{
    struct sip_peers *p = arg;
    for (size_t i = 0; i < p->udp_count; i++)
        detach(p->udp[i]);
}

/* Each datagram that the kernel does not drop costs several system calls. */
static void begin_filtering(struct sip_peers *p)
{
    for (size_t i = 0; i < p->udp_count; i++)
        if (attach(&p->allowed, p->udp[i]))
            tmr_start(&p->filtered, TELL_MS, on_filtered, p);
}

void sip_peers_watch(struct sip_peers *p, int udp)
{
    if (p->udp_count < SIP_PEERS_SOCKETS_MAX)
        p->udp[p->udp_count++] = udp;
}

void sip_peers_forget(struct sip_peers *p, int udp, const struct sa *bound)
{
    for (size_t i = 0; i < p->udp_count; i++)
        if (p->udp[i] == udp)
            p->udp[i] = p->udp[--p->udp_count];
    for (size_t i = 0; i < p->listening_count; i++)
        if (listens_on(p->listening[i], bound))
            p->listening[i] = p->listening[--p->listening_count];
}

/* A call box outside the list gets no answer; this line tells the operator. */
static void tell_dropped_message(struct sip_peers *p, const struct net_address *from)
{
    char text[NET_ADDRESS_TEXT];
    int64_t now_ms = tick_now_ms();
    if (++p->dropped == FLOOD)
        begin_filtering(p);
    if (p->told_ms && now_ms - p->told_ms < TELL_MS)
        return;
    net_address_text(from, text);
    log_warn("sip message dropped: not in voice.peers source=%s dropped=%llu", text, (unsigned long long)p->dropped);
    p->told_ms = now_ms;
    p->dropped = 0;
}

bool sip_peers_listed(const struct sip_peers *p, const struct sa *from)
{
    struct net_address a = peer_address(from);
    return net_cidrs_contain(&p->allowed, &a);
}

bool sip_peers_admit(struct sip_peers *p, const struct sa *from)
{
    if (is_open(p) || sip_peers_listed(p, from))
        return true;
    struct net_address a = peer_address(from);
    tell_dropped_message(p, &a);
    return false;
}
