/* The addresses that answers offer to browsers. */
#pragma once
#include <re/re.h>

#include "webrtc/sdp.h"

/* Writes the candidates of a socket bound to `bound`, the best ones first: its address, or the machine's addresses, and
 * `external` (may be NULL) with the bound port. Loopback addresses are offered only if there is no other. Returns their
 * number, at least one. */
size_t webrtc_address_list(const struct sa *bound, const struct sa *external,
                           struct sa ret[static WEBRTC_CANDIDATES_MAX]);
