#include "base/err.h"

#include "base/mem.h"

static const struct err_info table[] = {
#define E(code, status, message, next_action)            [ERR_##code] = {#code, status, message, next_action},
#define E_AS(symbol, code, status, message, next_action) [ERR_##symbol] = {#code, status, message, next_action},
#include "tbl/errors.def"
#undef E
};

const struct err_info *err_info(enum err e)
{
    return e > ERR_NONE && e < ERR_TABLE_END ? &table[e] : &table[ERR_INTERNAL_ERROR];
}

enum err err_why(char **ret_why, enum err e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *ret_why = mem_vprintf(fmt, ap);
    va_end(ap);
    return e;
}
