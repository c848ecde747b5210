/* The manual pages, in roff's man macros: made from the tables of commands and of configuration keys when the program
 * is built (src/documents.c). The pages have no date, so that every build of a version writes the same bytes. */
#pragma once
#include "cli/command.h"

/* portero(1). */
void manual_program(const struct command *const *commands, size_t count, FILE *out);
/* portero-NAME(1), with every verb of the command. */
void manual_command(const struct command *c, FILE *out);
/* portero.conf(5). */
void manual_configuration(FILE *out);
