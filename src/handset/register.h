/* Asks a registrar whether it accepts a user, without registering. */
#pragma once
#include <re/re.h>

#include "base/config.h"

/* Sends a REGISTER without a contact, which only asks for the contacts that exist (RFC 3261, 10.2.3), and answers the
 * challenge with the password. Returns 0 if the user is accepted. Otherwise writes a reason and returns EACCES
 * (refused), ETIMEDOUT (no answer in six seconds) or another errno. Blocks. */
int register_try(const struct config_peer *p, const char *password, const struct sa *server, bool tcp, char *ret_why,
                 size_t why_size);
