/* A self-signed certificate: for the sandbox, and for a service that has no better one yet. */
#pragma once
#include "base/err.h"

/* Makes an EC P-256 key and a certificate signed with it (CN localhost; SAN localhost, this machine's name and the
 * addresses of its interfaces at that time; valid for ten years) and writes both as PEM files, the key with mode 0600.
 * Fails with ERR_IO if a file cannot be written. */
enum err tls_self_signed(const char *certificate_path, const char *key_path) CHECKED;
/* The same for `name`, too: a host name or address. */
enum err tls_self_signed_for(const char *name, const char *certificate_path, const char *key_path) CHECKED;
