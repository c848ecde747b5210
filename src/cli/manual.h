/* The manual pages, in roff's man macros: made from the tables of commands and of configuration keys when the program
 * is built (src/documents.c). Their date is the version's date, so that every build of it writes the same bytes. */
#pragma once
#include "client/command.h"

/* portero(1) or porterod(1). */
void manual_program(const struct program *p, FILE *out);
/* portero-NAME(1), with every verb of the command. */
void manual_command(const struct program *p, const struct command *c, FILE *out);
/* portero.conf(5). */
void manual_configuration(FILE *out);
