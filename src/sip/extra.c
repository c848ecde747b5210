#include "sip/extra.h"

#include "sip/agent.h"

#define HELPER_LAYER 10 /* above TLS */

/* Inserts the lines after the first line. The buffer is the transaction's, so repetitions have them as well. */
static void insert(struct sip_stack *s, struct mbuf *mb)
{
    const size_t n = strlen(s->extra), left = mbuf_get_left(mb);
    const uint8_t *end = n && left ? memchr(mbuf_buf(mb), '\n', left) : NULL;
    const size_t at = end ? (size_t)(end + 1 - mb->buf) : 0;
    if (end && (mb->size >= mb->end + n || !mbuf_resize(mb, mb->end + n))) {
        memmove(mb->buf + at + n, mb->buf + at, mb->end - at);
        memcpy(mb->buf + at, s->extra, n);
        mb->end += n;
    }
    s->extra[0] = '\0';
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libre's */
bool sip_extra_datagram(int *err, struct sa *dst, struct mbuf *mb, void *arg)
{
    (void)err;
    (void)dst;
    insert(arg, mb);
    return false;
}

/* Removes its helper, which libre would free with the connection.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libre's */
static bool sip_extra_segment(int *err, struct mbuf *mb, void *arg)
{
    struct sip_stack *s = arg;
    (void)err;
    insert(s, mb);
    sip_extra_clear(s);
    return false;
}

void sip_extra_set(struct sip_stack *s, const struct sip_msg *msg, const char *lines)
{
    sip_extra_clear(s);
    (void)snprintf(s->extra, sizeof s->extra, "%s", lines);
    struct tcp_conn *connection = sip_msg_tcpconn(msg);
    if (connection)
        (void)tcp_register_helper(&s->extra_helper, connection, HELPER_LAYER, NULL, sip_extra_segment, NULL, s);
}

void sip_extra_clear(struct sip_stack *s)
{
    s->extra[0] = '\0';
    s->extra_helper = mem_deref(s->extra_helper);
}
