/* The configuration of the stores that tests of this room open: plans, greetings and the master key. */
#pragma once
#include "base/config.h"
#include "base/crypto.h"

static inline void configure(struct config *c)
{
    c->limits_otp_per_email = 10;
    c->mail_code_in_subject = c->mail_sound = true;
    c->sms_provider = "sandbox";
    c->greetings_welcome = "Code?";
    c->greetings_granted = "Welcome.";
    c->greetings_denied = "Wrong.";
    c->greetings_forwarding = "Wait.";
    c->greetings_message = "Speak.";
    c->plans[0] = (struct config_plan){"weekly", 499, "usd", "week", 1, true, ""};
    c->plans[1] = (struct config_plan){"yearly", -1, "usd", "year", 1, true, ""};
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
}
