/* The log: one line per record on standard error, `time level message key=value …` or a JSON object (base/log_json.h).
 * If standard error is the journal, each line begins with its priority, and has no time. Callers must never pass
 * secrets or visitors' codes. Any thread; a record is one write(2). */
#pragma once
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_format { LOG_TEXT, LOG_JSON };

void log_set_level(enum log_level level);
void log_set_format(enum log_format chosen);
/* "<3>" for errors, …, if standard error is the journal; otherwise "". For lines that do not pass through here. */
const char *log_prefix(enum log_level level);
/* Escapes control characters; truncates records at 2,000 bytes. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
