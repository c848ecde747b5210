/* Option tables read by getopt_long, and printed as help. */
#pragma once
#include <stdio.h>

#include "cli/command.h"

enum options_result { OPTIONS_READ, OPTIONS_HELP, OPTIONS_WRONG };

/* Reads argv[1…] into the struct at ret_options (zeroed by the caller). Operands may stand between options unless the
 * command stops at the first; `--` ends the options. Strings point into argv. OPTIONS_WRONG after one line on standard
 * error. Not for two threads at once (getopt). */
enum options_result options_parse(const struct command *c, int argc, char **argv, void *ret_options,
                                  struct arguments *ret_operands);

/* The usage line, the summary and the table. */
void options_help(const struct command *c, FILE *out);
