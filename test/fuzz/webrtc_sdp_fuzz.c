/* Offers of browsers: one that is taken gets an answer whose lines are ours, and no more sections than it has. */
#include <stdlib.h>

#include "webrtc/sdp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct webrtc_offer offer;
    struct sa candidate;
    char answer[WEBRTC_ANSWER_MAX];
    const uint8_t pt = n & 1 ? 8 : 0;
    if (webrtc_sdp_read(str_n((const char *)data, n), pt, &offer) || sa_set_str(&candidate, "192.0.2.1", 3478))
        return 0;
    const struct webrtc_answer mine = {
        .ufrag = "u", .password = "p", .print = "AA", .pt = pt, .candidates = &candidate, .count = 1};
    if (!webrtc_sdp_answer(&offer, &mine, answer))
        return 0;
    size_t sections = 0;
    for (const char *at = answer; (at = strstr(at, "\r\nm=")); at++)
        sections++;
    if (sections != offer.count || strlen(answer) >= sizeof answer)
        abort();
    return 0;
}
