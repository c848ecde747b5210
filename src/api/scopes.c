#include "api/scopes.h"

#include <assert.h>

#include "domain/principal.h"

#define OF_NEVER(text)   text,
#define OF_ALWAYS(text)  text,
#define OF_CURRENT(text) text,
#define OF_EARLIER(text)
#define OF_OWNER(text)
const char *const scope_values[] = {
#define S(symbol, text, issued) OF_##issued(text)
#include "tbl/scopes.def"
#undef S
    NULL};
static_assert(sizeof scope_values / sizeof *scope_values == SCOPE_VALUES + 1, "all scopes of the current revision");

#undef OF_CURRENT
#undef OF_EARLIER
#undef OF_OWNER
#define OF_CURRENT(text)
#define OF_EARLIER(text) text,
#define OF_OWNER(text)   text,
const char *const scope_values_earlier[] = {
#define S(symbol, text, issued) OF_##issued(text)
#include "tbl/scopes.def"
#undef S
    NULL};

const char *const scope_values_all[] = {
#define S(symbol, text, issued) text,
#include "tbl/scopes.def"
#undef S
    NULL};

struct val scope_list(struct arena *a, uint32_t scopes)
{
    struct val *list = arena_array(a, struct val, SCOPE_COUNT);
    size_t count = 0;
    for (enum scope bit = 0; bit < SCOPE_COUNT; bit++)
        if (scopes & 1u << bit)
            list[count++] = v_str(str_z(scope_text(bit)));
    return v_list(list, count);
}

struct str scope_words(struct arena *a, uint32_t scopes)
{
    struct str text = STR("");
    for (enum scope bit = 0; bit < SCOPE_COUNT; bit++)
        if (scopes & 1u << bit)
            text = arena_printf(a, "%.*s%s%s", STR_ARG(text), text.n ? " " : "", scope_text(bit));
    return text;
}
