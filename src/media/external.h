/* The address by which peers outside of the local networks reach this machine (voice.external_address). Pure. */
#pragma once
#include <re/re.h>

#include "base/config.h"

#define EXTERNAL_CONTACT_MAX 128

/* Whether the peer must be told voice.external_address in place of `local`: it is set, of the same family, the peer is
 * outside (not loopback, private, shared, link-local or unique local) and `local` is not. Sets *ret without a port. */
bool external_address(const struct config *c, const struct sa *local, const struct sa *peer, struct sa *ret);
/* Our Contact in the dialog of this INVITE, as libre takes it: a user, or a URI. */
void external_contact(const struct config *c, const struct sip_msg *invite, char ret[static EXTERNAL_CONTACT_MAX]);
