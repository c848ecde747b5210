/* The addresses that may reach the SIP port: voice.peers, the addresses of the peers with settings (voice.peer), and
 * the addresses that the servers of trunks have in the DNS. */
#pragma once
#include <re/re.h>

#include "base/config.h"
#include "net/address.h"

#define SIP_PEERS_LEARNED     16 /* of one trunk */
#define SIP_PEERS_SOCKETS_MAX 64

struct sip_peers {
    const struct config *config;
    bool restricted;                          /* false: any address */
    struct net_cidrs allowed;                 /* all of them */
    size_t configured;                        /* how many of them the configuration names; the rest was learned */
    struct net_cidrs named[CONFIG_PEERS_MAX]; /* the addresses of config->peers */
    struct sip_learned {
        struct net_address address;
        int64_t seen_ms;
    } learned[CONFIG_PEERS_MAX][SIP_PEERS_LEARNED];
    size_t learned_count[CONFIG_PEERS_MAX];
    int listening[2 * SIP_PEERS_SOCKETS_MAX]; /* sockets with the kernel's filter */
    size_t listening_count;
    int udp[SIP_PEERS_SOCKETS_MAX]; /* the sockets to filter in a flood */
    size_t udp_count;
    uint64_t dropped;    /* since the last line in the log */
    int64_t told_ms;     /* time of that line; 0: never */
    struct tmr filtered; /* runs while it is filtered */
};

/* Fails with ERR_USAGE; *ret_bad is then the block that cannot be parsed. */
enum err sip_peers_init(struct sip_peers *p, const struct config *c, const char **ret_bad) CHECKED;
void sip_peers_done(struct sip_peers *p);
/* The peer with settings that has this address, or NULL. */
const struct config_peer *sip_peers_find(const struct sip_peers *p, const struct sa *from);
/* Adds addresses of a trunk's server: they may call as this peer. A full list forgets the one that was seen longest
 * ago. */
void sip_peers_learn(struct sip_peers *p, const struct config_peer *peer, const struct sa *addresses, size_t count);
/* Whether voice.peers or a peer has this address. */
bool sip_peers_listed(const struct sip_peers *p, const struct sa *from);
/* Whether this address may send requests: it is listed, nobody is, or strangers may sign in. If not, logs it, at most
 * once in ten seconds. */
bool sip_peers_admit(struct sip_peers *p, const struct sa *from);
/* From now on, in a flood, the kernel drops datagrams of other addresses to this UDP socket. It lets some through at
 * intervals, for the log. */
void sip_peers_watch(struct sip_peers *p, int udp);
/* This UDP socket (-1: none), and the sockets that listen on `bound`, are about to be closed. */
void sip_peers_forget(struct sip_peers *p, int udp, const struct sa *bound);
/* Makes the kernel drop TCP connections of other addresses to the socket that listens on `bound`, before they are
 * established. False if it cannot: such connections are then closed at their first message. */
bool sip_peers_filter(struct sip_peers *p, const struct sa *bound);
