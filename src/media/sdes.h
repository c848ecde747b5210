/* SRTP keys in SDP (RFC 4568): the value of a=crypto. Pure.
 *
 * Strict: AES_CM_128_HMAC_SHA1_80 and _32, one key without MKI, and no session parameter that changes the packets.
 * Never log a value: it holds the key. */
#pragma once
#include <re/re.h>

#include "base/str.h"

#define SDES_KEY_LEN  30 /* master key and salt */
#define SDES_TEXT_MAX 96

struct sdes {
    uint32_t tag;
    enum srtp_suite suite;
    uint8_t key[SDES_KEY_LEN];
};

/* False for a value that this service does not use; another line may do. */
bool sdes_read(struct str value, struct sdes *ret);
/* The value for our own SDP. */
void sdes_write(const struct sdes *s, char ret[static SDES_TEXT_MAX]);
