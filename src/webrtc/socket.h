/* One UDP socket on one address of the machine, or on all of them. Answers leave from the address at which the packet
 * came, which libre's sockets cannot do. */
#pragma once
#include <re/re.h>

#include "base/err.h"

#define WEBRTC_DATAGRAM_MAX 2048 /* longer ones are dropped */
#define WEBRTC_BATCH        16

struct webrtc_socket;

/* `take` may change the datagram. */
typedef void webrtc_socket_take(uint8_t *p, size_t n, const struct sa *from, const struct sa *to, void *arg);

/* Binds; port 0 is a free one. [::] is all addresses of IPv4, too. ERR_IO with errno. */
enum err webrtc_socket_open(struct webrtc_socket **ret, const struct sa *at, webrtc_socket_take *take,
                            void *arg) CHECKED;
void webrtc_socket_close(struct webrtc_socket *s);
const struct sa *webrtc_socket_address(const struct webrtc_socket *s);
/* `from` is an address of ours. A packet that the kernel refuses is lost. */
void webrtc_socket_send(const struct webrtc_socket *s, const struct sa *from, const struct sa *to, const uint8_t *p,
                        size_t n);
/* Takes the datagrams that have come. The loop does it; for tests. */
void webrtc_socket_drain(struct webrtc_socket *s);
