/* The trace of SIP (`porterod serve --sip-trace FILE`): each message in and out, with its time and addresses, and with
 * secrets masked. The caller never waits for the disk: a thread writes, and messages that it cannot keep up with are
 * counted and left out. */
#pragma once
#include <re/re.h>

#include "base/err.h"

struct sip_stack;
struct sip_trace;

/* Appends to `path`, which only its owner can read. At TRACE_FILE_MAX the file is renamed to PATH.1 and begun again.
 * Fails with ERR_IO and errno. */
enum err sip_trace_open(const char *path, struct sip_trace **ret) CHECKED;
/* Writes the rest. NULL is fine. */
void sip_trace_close(struct sip_trace *t);
void sip_trace_add(struct sip_trace *t, bool out, enum sip_transp tp, const struct sa *from, const struct sa *to,
                   const uint8_t *message, size_t n);
/* Whether the messages of a stack are traced, if its agent has a trace. */
void sip_trace_watch(struct sip_stack *s, bool on);
