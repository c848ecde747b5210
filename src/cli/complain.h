/* Error messages of the commands. */
#pragma once

/* Writes one line, "portero: …", to standard error. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes each line of the text so. */
void complain_lines(const char *text);
