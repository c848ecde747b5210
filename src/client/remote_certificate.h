/* Trust in the certificate of a service that no authority has signed, such as a sandbox's own. */
#pragma once
#include "client/remote.h"

/* Makes the remote trust the certificate in `ca_file`, and returns its text to keep. Without a file: if the service's
 * certificate is not trusted by the system and is signed by itself, shows its SHA-256 and asks whether it is the
 * service's. The answer must be "yes"; the name in it need not fit then (`pin` of the remote). It does not ask if the
 * certificate in the file `known` (NULL: none), which was trusted before, with the pin of then, suffices. *ret is
 * STR_NONE if the system's certificates suffice. Nothing but a TLS handshake is sent before. Returns the exit status.
 */
int remote_trust(struct remote *r, const char *ca_file, const char *known, const char *known_pin, struct arena *a,
                 struct str *ret);
