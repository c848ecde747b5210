/* The names of the commands that operations of the interface have: "unlock create" for createUnlock. */
#pragma once
#include "api/route.h"

#define OPERATION_NAME_MAX 64

/* Writes the words of the command, the noun first: from a table, or else derived from the operation's ID. The verb is
 * the first word of the ID; the others are the noun, in the singular. */
void operation_command_name(const struct route *route, char ret[static OPERATION_NAME_MAX]);
