/* The program `portero`: the commands of residents and agents. It runs `porterod` for the commands of the service. */
#pragma once
#include "client/command.h"

#define CLIENT(name) extern const struct command command_##name;
#include "tbl/commands.def"

extern const struct program client_program;
