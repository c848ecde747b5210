/* The visit that a call is, by its steps. */
#include "domain/visit.h"

const char *const visit_outcome_names[] = {
    [VISIT_IN_PROGRESS] = "in_progress", [VISIT_OPENED] = "opened",
    [VISIT_FORWARDED] = "forwarded",     [VISIT_MISSED] = "missed",
    [VISIT_MESSAGE] = "message",         [VISIT_REFUSED] = "refused",
    [VISIT_ENDED] = "ended_by_visitor",  NULL,
};

const char *const visit_opener_names[] = {
    [VISIT_BY_NOBODY] = "nobody",   [VISIT_BY_CODE] = "code",
    [VISIT_BY_TIMER] = "timer",     [VISIT_BY_ROUTINE] = "routine",
    [VISIT_BY_PHONE] = "phone",     [VISIT_BY_BROWSER] = "browser",
    [VISIT_BY_PROGRAM] = "program", NULL,
};

/* The facts in the steps. */
struct told {
    bool forwarded, connected, message;
    struct str number; /* of the phone that answered last */
    struct str reason; /* of the last code that opened nothing; STR_NONE: there was none */
    struct str grant;  /* whose code it was; STR_NONE: nobody's */
};

/* Grants that are named after the forwarding are guesses. */
static void tell_attempt(struct told *t, const struct call_step *s)
{
    if (t->forwarded)
        return;
    t->reason = s->text;
    t->grant = s->kind == CALL_STEP_NOT_USABLE ? s->ref : STR_NONE;
}

static void tell(struct told *t, const struct call_step *s)
{
    switch (s->kind) {
    case CALL_STEP_CODE_WRONG:
    case CALL_STEP_NOT_USABLE:
        tell_attempt(t, s);
        break;
    case CALL_STEP_FORWARDED:
        t->forwarded = true;
        break;
    case CALL_STEP_LEG_ANSWERED:
    case CALL_STEP_LEG_ACCEPTED:
        t->number = s->ref;
        break;
    case CALL_STEP_CONNECTED:
        t->connected = true;
        break;
    case CALL_STEP_MESSAGE:
        t->message |= !str_eq(s->text, STR("lost"));
        break;
    default:
        break;
    }
}

static enum visit_outcome outcome_of(const struct call_end *end, const struct told *t)
{
    const bool left = end->ended_by == CALL_ENDED_CALLER || end->ended_by == CALL_ENDED_LOST;
    if (end->outcome == CALL_RECORD_RELEASED || end->resident_opened)
        return VISIT_OPENED;
    if (!end->ended_us)
        return VISIT_IN_PROGRESS;
    if (t->message)
        return VISIT_MESSAGE;
    if (end->outcome == CALL_RECORD_NONE)
        return left && !t->reason.p ? VISIT_ENDED : VISIT_REFUSED;
    return t->connected ? VISIT_FORWARDED : VISIT_MISSED;
}

static enum visit_opener opener_of(const struct call_end *end)
{
    static const enum visit_opener by_grant[ACCESS_REASON_COUNT] = {
        [ACCESS_TIMER] = VISIT_BY_TIMER, [ACCESS_ROUTINE] = VISIT_BY_ROUTINE, [ACCESS_PASSCODE] = VISIT_BY_CODE};
    if (end->outcome == CALL_RECORD_RELEASED)
        return by_grant[end->reason];
    if (!end->resident_opened)
        return VISIT_BY_NOBODY;
    return !id_given(&end->opener_id) ? VISIT_BY_PHONE : end->opener_person ? VISIT_BY_BROWSER : VISIT_BY_PROGRAM;
}

struct visit_facts visit_of(const struct call_end *end)
{
    struct told t = {.number = STR_NONE, .reason = STR_NONE, .grant = STR_NONE};
    struct str rest = end->steps.p ? end->steps : STR("");
    struct call_step step;
    while (call_step_read(&rest, &step))
        tell(&t, &step);
    struct visit_facts f = {.outcome = outcome_of(end, &t), .opened_by = opener_of(end)};
    if (f.opened_by == VISIT_BY_PHONE)
        f.number = t.number;
    if (end->outcome == CALL_RECORD_RELEASED) {
        f.grant_id = end->grant_id;
    } else if (end->near) {
        f.reason = str_z(access_why_names[end->near->why]);
        f.grant_id = end->near->grant_id;
    } else {
        f.reason = t.reason.p ? t.reason : str_z(access_reason_names[end->reason]);
        if (t.grant.p && !id_parse(t.grant, &f.grant_id))
            f.grant_id = (struct id){.text = ""};
    }
    return f;
}
