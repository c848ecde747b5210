#include "client/login_scopes.h"

#include "base/buf.h"

#define SCOPES_MAX_LEN 512

/* Whether a key of the current revision can have the scope, by the word in the table. */
enum { IS_NEVER = false, IS_ALWAYS = true, IS_CURRENT = true, IS_EARLIER = false, IS_OWNER = false };

static const struct {
    const char *text;
    bool issued;
} scopes[] = {
#define S(symbol, text, issued) {text, IS_##issued},
#include "tbl/scopes.def"
#undef S
};

bool login_is_scope(struct str word)
{
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (scopes[i].issued && str_eq(word, str_z(scopes[i].text)))
            return true;
    return false;
}

struct str login_all_scopes(struct arena *a)
{
    struct buf list = BUF(SCOPES_MAX_LEN);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (scopes[i].issued)
            buf_printf(&list, "%s%s", list.n ? ", " : "", scopes[i].text);
    const struct str text = arena_str(a, buf_view(&list));
    buf_done(&list);
    return text;
}
