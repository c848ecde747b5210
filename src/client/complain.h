/* Error messages of the commands. */
#pragma once

/* The program as it was called, "portero" until then: lines begin with it, and it is in texts of commands to type. */
void complain_as(const char *program);
const char *complain_name(void);
/* Writes one line, "portero: …", to standard error. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes each line of the text so. */
void complain_lines(const char *text);
