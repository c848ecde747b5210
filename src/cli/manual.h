/* The manual pages, in roff's man macros: made from the tables of commands and of configuration keys when the program
 * is built (src/documents.c). Their date is the version's date, so that every build of it writes the same bytes. */
#pragma once
#include "cli/command.h"

/* portero(1). */
void manual_program(FILE *out);
/* portero-NAME(1), with every verb of the command. */
void manual_command(const struct command *c, FILE *out);
/* portero.conf(5). */
void manual_configuration(FILE *out);
