/* Callers: the addresses that may reach the SIP port (voice.peers), and those with settings of their own (voice.peer).
 */
#pragma once
#include <re/re.h>

#include "base/config.h"
#include "net/address.h"

struct sip_peers {
    const struct config *config;
    struct net_cidrs allowed;                 /* all of them; empty: everybody */
    struct net_cidrs named[CONFIG_PEERS_MAX]; /* those of config->peers */
    uint64_t dropped;                         /* since the last line in the log */
    int64_t told_ms;                          /* when that was; 0: never */
    int udp;                                  /* the socket to be filtered in a flood, -1: none */
    struct tmr filtered;                      /* runs while it is */
};

/* ERR_USAGE: *ret_bad is the block that cannot be read. */
enum err sip_peers_init(struct sip_peers *p, const struct config *c, const char **ret_bad) CHECKED;
void sip_peers_done(struct sip_peers *p);
/* The peer with settings of its own that has this address, or NULL. */
const struct config_peer *sip_peers_find(const struct sip_peers *p, const struct sa *from);
/* Whether this address may call. Where it may not, says so in the log, once in a while. */
bool sip_peers_admit(struct sip_peers *p, const struct sa *from);
/* From now on, in a flood, the kernel drops datagrams of others to this UDP socket, most of the time: a few go on
 * coming through, for the log. */
void sip_peers_watch(struct sip_peers *p, int udp);
/* Has the kernel drop TCP connections of others to the socket that listens on `bound`, before they are established.
 * False where it cannot: their connections are then closed at their first message. */
bool sip_peers_filter(const struct sip_peers *p, const struct sa *bound);
