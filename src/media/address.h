/* Which addresses a peer's audio may have. */
#pragma once
#include <re/re.h>

/* Whether a peer whose SIP comes from `signalling` may have its audio there. A loopback or link-local address is
 * accepted only from a peer whose signalling is there, too. */
bool media_may_be_at(const struct sa *signalling, const struct sa *at);
