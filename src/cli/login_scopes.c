#include "cli/login_scopes.h"

#include "base/buf.h"
#include "domain/principal.h"

#define SCOPES_MAX_LEN 512

static const struct {
    const char *text;
    enum scope_issue issued;
} scopes[] = {
#define S(symbol, text, issued) {text, SCOPE_ISSUED_##issued},
#include "tbl/scopes.def"
#undef S
};

static bool is_issued(size_t i)
{
    return scopes[i].issued == SCOPE_ISSUED_ALWAYS || scopes[i].issued == SCOPE_ISSUED_CURRENT;
}

bool login_is_scope(struct str word)
{
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (is_issued(i) && str_eq(word, str_z(scopes[i].text)))
            return true;
    return false;
}

struct str login_all_scopes(struct arena *a)
{
    struct buf list = BUF(SCOPES_MAX_LEN);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (is_issued(i))
            buf_printf(&list, "%s%s", list.n ? ", " : "", scopes[i].text);
    const struct str text = arena_str(a, buf_view(&list));
    buf_done(&list);
    return text;
}
