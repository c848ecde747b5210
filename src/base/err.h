/* Error values: one enum for the whole program, expanded from tbl/errors.def.
 *
 * ERR_NONE (0) is success. The values of the table are what the interface may answer; the few below
 * them never leave the process. Functions that return `enum err` must have their result checked. */
#pragma once

#define CHECKED __attribute__((warn_unused_result))

enum err {
    ERR_NONE = 0,
#define E(code, status, message, next_action) ERR_##code,
#include "tbl/errors.def"
#undef E
    ERR_TABLE_END,
    ERR_RETRY, /* store only: the transaction lost a race or its connection; the store runs it again */
    ERR_USAGE, /* command line or configuration */
    ERR_IO     /* a system call failed; errno has the reason */
};

struct err_info {
    const char *code; /* the contract's code, e.g. "INVALID_JSON" */
    int status;       /* HTTP status */
    const char *message;
    const char *next_action;
};

/* The table row of an error. Internal values and ERR_NONE have the row of INTERNAL_ERROR. */
const struct err_info *err_info(enum err e);

/* Sets *ret_why to the formatted text, which the caller frees, and returns e. */
enum err err_why(char **ret_why, enum err e, const char *fmt, ...) __attribute__((format(printf, 3, 4))) CHECKED;
