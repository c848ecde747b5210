/* Completions of the shells, made from the table of commands when the program is built (src/documents.c). */
#pragma once
#include "cli/command.h"

void completion_bash(FILE *out);
void completion_zsh(FILE *out);
void completion_fish(FILE *out);
