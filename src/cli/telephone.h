/* The telephone among the parts of the service: starts the SIP agent, and gives the interface and the sender of codes
 * the functions that they call it by. */
#pragma once
#include "api/parts.h"
#include "call/known.h"
#include "providers/sms.h"
#include "sip/sip.h"

struct telephone_options {
    const struct config *config;
    struct store *store;
    struct known *known;
    struct texter *texter;
    struct parts *parts; /* of the service: gets the board of trunks, speech and commands */
};

/* Gives the parts the sound of recordings; the rest, and *ret_sip, only if voice.provider is sip and listen.sip is set.
 * `speech` must live as long as the parts. Fails with *ret_why (caller frees) set to the reason. */
enum err telephone_start(const struct telephone_options *o, struct speech_part *speech, struct sip_agent **ret_sip,
                         char **ret_why) CHECKED;
