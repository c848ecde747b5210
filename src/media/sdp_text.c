#include "media/sdp_text.h"

bool sdp_text_fits(struct str sdp)
{
    bool fits = sdp.n <= SDP_MAX;
    for (struct str rest = sdp; fits && rest.n;)
        fits = str_cut(rest, '\n', &rest).n <= SDP_LINE_MAX;
    return fits;
}
