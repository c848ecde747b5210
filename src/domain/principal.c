#include "domain/principal.h"

#include <assert.h>

static const char *const texts[] = {
#define S(symbol, text, issued) text,
#include "tbl/scopes.def"
#undef S
};

const char *scope_text(enum scope bit)
{
    assert(bit < SCOPE_COUNT);
    return texts[bit];
}
