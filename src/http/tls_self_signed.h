/* A self-signed certificate for the sandbox. */
#pragma once
#include "base/err.h"

/* Makes an EC P-256 key and a certificate signed with it (CN localhost; SAN localhost, 127.0.0.1, ::1; valid for ten
 * years) and writes both as PEM files, the key with mode 0600. Fails with ERR_IO if a file cannot be written. */
enum err tls_self_signed(const char *certificate_path, const char *key_path) CHECKED;
