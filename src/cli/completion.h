/* Completions of the shells, made from the table of commands when the program is built (src/documents.c). */
#pragma once
#include "cli/command.h"

void completion_bash(const struct command *const *commands, size_t count, FILE *out);
void completion_zsh(const struct command *const *commands, size_t count, FILE *out);
void completion_fish(const struct command *const *commands, size_t count, FILE *out);
