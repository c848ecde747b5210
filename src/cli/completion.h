/* Completions of the shells, made from a program's table of commands when the program is built (src/documents.c). */
#pragma once
#include "client/command.h"

void completion_bash(const struct program *p, FILE *out);
void completion_zsh(const struct program *p, FILE *out);
void completion_fish(const struct program *p, FILE *out);
