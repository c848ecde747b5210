/* Inside the SIP user agent: SIP over TLS. One context serves the listeners (listen.sips) and the connections to
 * trunks.
 *
 * libre 1.1.0 verifies no certificate of a SIP server and opens connections itself, so this file does it: each
 * connection belongs to the trunk whose request opened it, and must show a certificate for the name or address of its
 * server, signed by the trunk's authorities. Connections that libre opens later, within a dialog, may be any trunk's.
 */
#pragma once
#include <re/re.h>

#include "base/config.h"

struct sip_agent;
struct sip_stack;
struct sip_trunk;
struct x509_store_st;

struct sip_tls {
    struct tls *context; /* NULL: neither listen.sips nor a trunk that may use TLS */
    bool listens;
    struct x509_store_st *trusted[CONFIG_PEERS_MAX]; /* for each trunk */
};

/* Reads certificate, key and authorities. Fails with ERR_USAGE and writes a reason. sip_tls_done() in any case. */
enum err sip_tls_init(struct sip_agent *a, char *why, size_t why_size) CHECKED;
void sip_tls_done(struct sip_agent *a);
/* Adds TLS to a stack that has its address. Returns 0 or errno. */
int sip_tls_listen(struct sip_stack *s);
/* Reads certificate and key again; keeps the old ones if they cannot be used, with an error in the log. */
void sip_tls_reload(struct sip_agent *a);
/* Until control returns to the loop, or another call, connections that are opened are the trunk's. */
void sip_tls_expect(struct sip_trunk *t);
