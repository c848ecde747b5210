#include "domain/ready.h"

#include "domain/text.h"

const char *const ready_codes[] = {[READY_SUBSCRIPTION] = "subscription",
                                   [READY_NUMBER] = "number",
                                   [READY_TONE] = "unlock_tone",
                                   [READY_CALL_BOX] = "call_box",
                                   [READY_PARTS] = NULL};

/* {building} is its ID. The second sentence is for a building without a number. */
static const struct {
    const char *request, *numbered, *unnumbered;
} parts[READY_PARTS] = {
    [READY_SUBSCRIPTION] = {"POST /v1/billing/checkout",
                            "Subscribe: without a subscription no grant opens the door. The number {number} is held "
                            "for a while.",
                            "Subscribe: the building gets a number and grants can open the door."},
    [READY_NUMBER] = {"GET /v1/buildings/{building}/setup", "", "The virtual number is being provisioned."},
    [READY_TONE] = {"PATCH /v1/buildings/{building}/settings",
                    "Set unlock_tone to the keypress that releases the door.",
                    "After the number is assigned, set unlock_tone to the keypress that releases the door."},
    [READY_CALL_BOX] = {"GET /v1/buildings/{building}/setup",
                        "Have the building manager point the call box at {number}, create a grant and press the buzzer "
                        "once to try it.",
                        "Then have the building manager point the call box at the number, create a grant and press the "
                        "buzzer once to try it."},
};

unsigned ready_lacks(const struct ready *r)
{
    const bool there[READY_PARTS] = {
        [READY_SUBSCRIPTION] = !str_eq(r->subscription, STR("none")),
        [READY_NUMBER] = r->number.n > 0,
        [READY_TONE] = r->tone.n > 0,
        [READY_CALL_BOX] = r->number.n > 0 && r->last_buzz_us != 0,
    };
    unsigned lacks = 0;
    for (unsigned part = 0; part < READY_PARTS; part++)
        lacks |= (there[part] ? 0U : 1U) << part;
    return lacks;
}

const char *ready_status(unsigned lacks)
{
    if (lacks & (READY_BIT(SUBSCRIPTION) | READY_BIT(NUMBER)))
        return "awaiting_subscription_or_provisioning";
    return lacks & READY_BIT(CALL_BOX) ? "building_setup_required" : "previous_buzz_recorded";
}

size_t ready_steps(const struct ready *r, const struct id *building, struct arena *a,
                   struct ready_step ret[static READY_PARTS])
{
    const struct text_word words[] = {{STR("building"), id_str(building)}, {STR("number"), r->number}};
    const size_t count = sizeof words / sizeof *words;
    unsigned lacks = ready_lacks(r);
    size_t steps = 0;
    if (lacks & READY_BIT(SUBSCRIPTION))
        lacks &= ~READY_BIT(NUMBER);
    for (enum ready_part part = 0; part < READY_PARTS; part++)
        if (lacks >> part & 1)
            ret[steps++] = (struct ready_step){
                .part = part,
                .code = str_z(ready_codes[part]),
                .request = text_fill(a, parts[part].request, words, count),
                .sentence = text_fill(a, r->number.n ? parts[part].numbered : parts[part].unnumbered, words, count),
            };
    return steps;
}
