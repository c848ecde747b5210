#include "api/scopes.h"

#include "domain/principal.h"

const char *const scope_values[] = {
#define S(symbol, text, issuable) text,
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
