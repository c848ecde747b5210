/* The form of numbers, addresses and headers in calls over a trunk. Pure. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

#include "base/config.h"
#include "media/crypto.h"

struct sip_route;

/* A name or address with a port, as configured: "sip.example.com:5060", "[2001:db8::1]". */
struct sip_server {
    char host[256]; /* without brackets */
    uint16_t port;  /* 0: not given */
    bool numeric;
    struct sa addr; /* if numeric */
};

/* `text` has passed config_is_server(). */
void sip_server_parse(const char *text, struct sip_server *ret);
/* The domain of the trunk's SIP addresses, with a port if the configuration has one. */
const char *sip_trunk_domain(const struct config_peer *p);
/* Writes the number as the trunk wants it; numbers without `+` are extensions and stay as they are. False if it is not
 * a number, or too long. */
bool sip_trunk_number(const struct config_peer *p, const char *number, char *ret, size_t size);
/* How our offers to the trunk handle SRTP. */
enum media_srtp sip_trunk_srtp(const struct config_peer *p);
/* Fills uri, from, cuser and headers. False if a number is malformed. */
bool sip_trunk_form(const struct config_peer *p, const char *number, const char *as, const char *original,
                    struct sip_route *ret);
