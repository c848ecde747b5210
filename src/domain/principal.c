#include "domain/principal.h"

#include <assert.h>

static const char *const texts[] = {
#define S(symbol, text, issued) text,
#include "tbl/scopes.def"
#undef S
};

const char *const member_role_names[] = {[MEMBER_RESIDENT] = "resident", [MEMBER_MANAGER] = "manager", NULL};

struct str member_role_text(enum member_role role)
{
    return str_z(member_role_names[role == MEMBER_RESIDENT ? MEMBER_RESIDENT : MEMBER_MANAGER]);
}

const char *scope_text(enum scope bit)
{
    assert(bit < SCOPE_COUNT);
    return texts[bit];
}
