/* GET /sandbox/messages: the e-mails and text messages that the sandbox's providers "sent". */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_messages_routes;
