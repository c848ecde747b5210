/* `portero log tail`: the newest entries of a building's log, and then each new one. */
#pragma once
#include "client/options.h"

extern const struct command command_log_tail;
