#include "domain/access.h"

const char *const access_reason_names[] = {
    [ACCESS_UNDECIDED] = "undecided",
    [ACCESS_FAILED] = "error",
    [ACCESS_UNKNOWN_NUMBER] = "unknown_number",
    [ACCESS_OWNER] = "owner",
    [ACCESS_NO_TONE] = "no_tone",
    [ACCESS_NO_SUBSCRIPTION] = "no_subscription",
    [ACCESS_TIMER] = "timer",
    [ACCESS_ROUTINE] = "routine",
    [ACCESS_PASSCODE] = "passcode",
    [ACCESS_NO_GRANT] = "no_grant",
    [ACCESS_NO_CODE] = "no_code",
    [ACCESS_WRONG_CODE] = "wrong_code",
    [ACCESS_KEYPAD_CLOSED] = "keypad_closed",
    [ACCESS_NOT_LISTED] = "not_listed",
    [ACCESS_ONE_WAY] = "one_way",
    [ACCESS_OUTSIDE_WINDOW] = "outside_window",
    [ACCESS_REASON_COUNT] = NULL,
};

const char *const access_why_names[] = {
    [NEAR_SWITCHED_OFF] = "switched_off",
    [NEAR_USED_UP] = "used_up",
    [NEAR_EXPIRED] = "expired",
    [NEAR_NOT_BEGUN] = "not_begun",
    [NEAR_OUTSIDE_WINDOW] = "outside_window",
    [NEAR_REVOKED] = "revoked",
    NULL,
};

const char *const access_barred_names[] = {[BARRED_NONE] = NULL, [BARRED_DESTINATION] = "destination"};
