/* Inside the SIP user agent: browsers of residents that listen to a call (webrtc/webrtc.h). One of them may take the
 * call, and then talks to the visitor. */
#pragma once
#include "domain/call_command.h"
#include "sip/call.h"
#include "sip/part.h"

#define SIP_LISTENERS_MAX 8 /* of one call */

/* Gives the visitor's packets to the listeners, who leave at the end of the call. */
extern const struct sip_part sip_listener_part;

/* Adds a listener, and notes its key in the call's record. Only a person may join a conversation: caller and
 * resident then hear a tone. The caller answers the visitor's call (sip_call_pick_up), so that the visitor is heard.
 * Sets ret->listener_id, answer and answered. Fails with ERR_CALL_ELSEWHERE, ERR_CALL_NOT_FORWARDED, ERR_CALL_ANSWERED,
 * ERR_CALL_ENDED, ERR_TOO_MANY_LISTENERS or ERR_INVALID_SDP. */
enum err sip_listener_add(struct sip_call *c, const struct call_command *command,
                          struct call_command_result *ret) CHECKED;
/* The listener takes the call, or has it already. */
enum err sip_listener_take(struct sip_call *c, const struct id *id, struct call_command_result *ret) CHECKED;
/* The listener leaves. If it talks, this ends the call. */
enum err sip_listener_leave(struct sip_call *c, const struct id *id, struct call_command_result *ret) CHECKED;

/* The resident talks to the visitor now: the other listeners join a conversation, or go if they are no persons. */
void sip_listeners_bridged(struct sip_call *c);
/* The conversation will be cut soon: both sides are told. */
void sip_listeners_closing(struct sip_call *c);
/* The release tone has been sent. */
void sip_listeners_opened(struct sip_call *c);

/* The keys by which the listeners came. */
struct listener_key {
    struct id account_id, key_id;
};
/* Writes at most SIP_LISTENERS_MAX of them; returns their number. */
size_t sip_listeners_keys(const struct sip_call *c, struct listener_key ret[static SIP_LISTENERS_MAX]);
/* Drops the listeners of a key that has ended. May end the call. */
void sip_listeners_drop_key(struct sip_call *c, const struct id *key);

/* The last sign of life of the listener that talks, as tick_now_ms(); 0: none talks. */
int64_t sip_listeners_alive_ms(const struct sip_call *c);
