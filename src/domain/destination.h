/* The numbers that the service may call: voice.destinations. */
#pragma once
#include "base/config.h"
#include "base/str.h"

/* Whether the longest prefix of the number in the list allows it. An empty list allows all. */
bool destination_allowed(const struct config *c, struct str number);
#define DESTINATION_REFUSED "the number may not be called from here: voice.destinations has no prefix of it"
