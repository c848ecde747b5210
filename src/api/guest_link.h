/* Links for guests: where they lead. */
#pragma once

#define GUEST_PATH "/g/" /* then the token, which is a secret */
