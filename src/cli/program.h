/* The program `porterod`: the service, and the commands of its operator. */
#pragma once
#include "client/command.h"

#define SERVICE(name, words) extern const struct command command_##name;
#include "tbl/commands.def"

extern const struct program service_program;
