/* Call boxes and telephones that sign in with SIP digest (RFC 3261, section 22). The operator makes them. */
#pragma once
#include "base/forms.h"
#include "domain/tx.h"

#define BOX_PURPOSE "box" /* of the sealed password */
#define BOX_FORM                                                                                                       \
    FORM("^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",                                                                          \
         "at most 32 letters, digits, dots, hyphens and underscores, a letter or digit first")
#define BOX_NAME_MAX         32
#define BOX_PASSWORD_LEN     24
#define BOX_ADDRESS_MAX      64
#define BOX_REGISTERED_MAX_S 3600

struct box {
    struct str name, number; /* number: E.164, or STR_NONE */
    int64_t created_us;
    int64_t registered_until_us; /* 0: never registered */
    struct str registered_from;  /* STR_NONE: never registered */
};

/* Makes a box. *ret_password, in the arena, is shown once. `number`: its calls come from it; STR_NONE: from the number
 * that it sends. Fails with ERR_BAD_REQUEST if there is a box with this name. */
enum err box_add(struct tx *tx, struct str name, struct str number, struct str *ret_password) CHECKED;
/* All boxes, by name, in the arena. */
enum err box_list(struct tx *tx, const struct box **ret, size_t *ret_count) CHECKED;
/* Fails with ERR_NOT_FOUND. */
enum err box_remove(struct tx *tx, struct str name) CHECKED;

struct box_login {
    struct str password; /* in the arena; the caller wipes it */
    struct str number;   /* STR_NONE: not set */
};
/* Fails with ERR_NOT_FOUND. */
enum err box_find(struct tx *tx, struct str name, struct box_login *ret) CHECKED;
/* Records a registration until then; 0: it was ended. */
enum err box_registered(struct tx *tx, struct str name, struct str from, int64_t until_us) CHECKED;
