#include <stdio.h>

#include "domain/call_record.h"

const char *const call_front_names[] = {
    [CALL_FRONT_SIP] = "sip", [CALL_FRONT_SANDBOX] = "sandbox", [CALL_FRONT_WEBHOOK] = "webhook", NULL};

const char *const call_record_outcome_names[] = {
    [CALL_RECORD_NONE] = "none",
    [CALL_RECORD_RELEASED] = "released",
    [CALL_RECORD_FORWARDED] = "forwarded",
    [CALL_RECORD_UNREACHABLE] = "unreachable",
    NULL,
};

const char *const call_ended_by_names[] = {
    [CALL_ENDED_CALLER] = "caller", [CALL_ENDED_SERVICE] = "service",     [CALL_ENDED_RESIDENT] = "resident",
    [CALL_ENDED_LOST] = "lost",     [CALL_ENDED_LIMIT] = "limit",         [CALL_ENDED_FAILED] = "failed",
    [CALL_ENDED_STOP] = "stop",     [CALL_ENDED_RESTARTED] = "restarted", NULL,
};

const char *const call_step_names[] = {
    [CALL_STEP_ARRIVED] = "arrived",
    [CALL_STEP_ANSWERED] = "answered",
    [CALL_STEP_SAID] = "said",
    [CALL_STEP_ASKED_CODE] = "asked_code",
    [CALL_STEP_KEY] = "key",
    [CALL_STEP_SPOKEN] = "spoken",
    [CALL_STEP_UNCLEAR] = "unclear",
    [CALL_STEP_CODE_WRONG] = "code_wrong",
    [CALL_STEP_CODE_INCOMPLETE] = "code_incomplete",
    [CALL_STEP_SILENCE] = "silence",
    [CALL_STEP_RELEASED] = "released",
    [CALL_STEP_FORWARDED] = "forwarded",
    [CALL_STEP_NOT_USABLE] = "not_usable",
    [CALL_STEP_OPENS_NEXT] = "opens_next",
    [CALL_STEP_TONE_SENT] = "tone_sent",
    [CALL_STEP_TONE_FALLBACK] = "tone_fallback",
    [CALL_STEP_RINGING] = "ringing",
    [CALL_STEP_LEG_ANSWERED] = "leg_answered",
    [CALL_STEP_LEG_ACCEPTED] = "leg_accepted",
    [CALL_STEP_LEG_BUSY] = "leg_busy",
    [CALL_STEP_LEG_NO_ANSWER] = "leg_no_answer",
    [CALL_STEP_LEG_DECLINED] = "leg_declined",
    [CALL_STEP_LEG_FAILED] = "leg_failed",
    [CALL_STEP_LEG_CANCELLED] = "leg_cancelled",
    [CALL_STEP_CONNECTED] = "connected",
    [CALL_STEP_UNANSWERED] = "unanswered",
    [CALL_STEP_RESIDENT_OPENED] = "resident_opened",
    [CALL_STEP_MESSAGE] = "message",
    [CALL_STEP_REFUSED] = "refused",
    [CALL_STEP_FAILED] = "failed",
    [CALL_STEP_LISTENING] = "listening",
    [CALL_STEP_MESSAGE_FETCHED] = "message_fetched",
    [CALL_STEP_OMITTED] = "omitted",
    [CALL_STEP_ENDED] = "ended",
    NULL,
};

/* ---- steps as text ---- */

/* The printable ASCII at the beginning of s, without spaces. */
static struct str step_word(struct str s)
{
    size_t n = 0;
    while (n < s.n && n < CALL_STEP_WORD_MAX && s.p[n] > ' ' && s.p[n] < 0x7f)
        n++;
    return str_n(s.p, n);
}

/* "-" stands for a text that is missing before a ref. */
size_t call_step_write(const struct call_step *step, char ret[static CALL_STEP_LINE_MAX])
{
    const struct str text = step_word(step->text), ref = step_word(step->ref);
    return (size_t)snprintf(ret, CALL_STEP_LINE_MAX, "%lld %s%s%.*s%s%.*s\n", (long long)step->at_ms,
                            call_step_names[step->kind],
                            text.n  ? " "
                            : ref.n ? " -"
                                    : "",
                            STR_ARG(text), ref.n ? " " : "", STR_ARG(ref));
}

static bool parse_step(struct str line, struct call_step *ret)
{
    struct str rest;
    uint64_t at_ms;
    if (!str_to_u64(str_cut(line, ' ', &rest), INT64_MAX, &at_ms))
        return false;
    const struct str name = str_cut(rest, ' ', &rest), text = str_cut(rest, ' ', &rest);
    int kind = 0;
    while (call_step_names[kind] && !str_eq(name, str_z(call_step_names[kind])))
        kind++;
    if (!call_step_names[kind])
        return false;
    *ret = (struct call_step){.at_ms = (int64_t)at_ms,
                              .kind = (enum call_step_kind)kind,
                              .text = str_eq(text, STR("-")) ? STR_NONE : text,
                              .ref = rest};
    return true;
}

bool call_step_read(struct str *steps, struct call_step *ret)
{
    while (steps->n)
        if (parse_step(str_cut(*steps, '\n', steps), ret))
            return true;
    return false;
}
