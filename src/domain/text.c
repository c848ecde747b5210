#include "domain/text.h"

#include "base/buf.h"

struct str text_fill(struct arena *a, const char *form, const struct text_word *words, size_t count)
{
    struct buf b = BUF(TEXT_MAX);
    for (struct str rest = str_z(form), name; rest.p;) {
        buf_str(&b, str_cut(rest, '{', &rest));
        if (!rest.p)
            break;
        name = str_cut(rest, '}', &rest);
        for (size_t i = 0; i < count; i++)
            if (str_eq(name, words[i].name))
                buf_str(&b, words[i].value);
    }
    const struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}
