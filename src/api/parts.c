#include "api/parts.h"

#include "base/config.h"

bool parts_hear(const struct parts *p, const struct config *c)
{
    const bool twilio = *c->twilio_account_sid && *c->twilio_auth_token;
    return twilio || (p->speech && p->speech->hears(p->speech->arg));
}
