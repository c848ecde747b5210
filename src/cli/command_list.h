/* All commands: the rows of tbl/commands.def, then the commands of the interface's operations. */
#pragma once
#include "cli/options.h"

/* The i-th command; NULL after the last. The operations' commands are made when the first of them is asked for. */
const struct command *command_at(size_t i);
/* Whether it is a noun with operations of the interface, and not a command of the table. */
bool command_is_operation(const struct command *c);
