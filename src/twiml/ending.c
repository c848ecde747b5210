#include "twiml/ending.h"

#include <stdio.h>

#include "call/log.h"

void twiml_log(const struct twiml_session *s, int64_t now_us)
{
    const bool rejected = s->call.outcome == CALL_REJECTED;
    struct call_record r = {.source = "twilio",
                            .status = rejected ? call_refusal(&s->call) : 0,
                            .established = !rejected,
                            .duration_ms = twiml_session_ms(s, now_us)};
    snprintf(r.id, sizeof r.id, "%.*s", STR_ARG(s->sid));
    snprintf(r.caller, sizeof r.caller, "%s", s->story.arrival.caller);
    snprintf(r.dialled, sizeof r.dialled, "%s", s->story.arrival.dialled);
    call_log(&s->call, &r);
}
