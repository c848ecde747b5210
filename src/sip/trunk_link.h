/* Keeps in touch with a trunk's server: looks its addresses up, registers, and asks with OPTIONS whether it is up. That
 * also keeps connections and the bindings of a NAT open. Changes the trunk's state. */
#pragma once
#include "sip/trunk.h"

/* Begins, or begins again at once. */
void sip_trunk_link_start(struct sip_trunk *t);
/* Ends the registration, if there is one, and sends no other request from now on. */
void sip_trunk_link_leave(struct sip_trunk *t);
void sip_trunk_link_stop(struct sip_trunk *t);
/* A call failed: makes the trunk the last choice for a while, and asks whether it is up. */
void sip_trunk_link_failed(struct sip_trunk *t, const char *why);
/* "sip:192.0.2.1:5060;transport=tcp": the target in use. False without one. */
bool sip_trunk_hop(const struct sip_trunk *t, char *ret, size_t size);
/* "trying", "up", "registered", "failing", "down" */
const char *sip_trunk_state_name(const struct sip_trunk *t);
/* libre's digest authentication asks it for the name and the password of each realm; `arg` is the trunk. */
int sip_trunk_password(char **user, char **password, const char *realm, void *arg);
