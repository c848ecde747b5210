/* The same content as HTML and as Markdown. */
#include "documents/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants those first */
#include <cmocka.h>

static void assert_written(void (*put)(struct docs_out *out), const char *html, const char *markdown)
{
    for (int form = 0; form < 2; form++) {
        struct buf text = BUF(4096);
        struct docs_out out = {&text, form, 0};
        put(&out);
        buf_char(&text, '\0');
        assert_string_equal(text.p, form ? markdown : html);
        assert_int_equal(out.depth, 0);
        buf_done(&text);
    }
}

static void put_marks(struct docs_out *out)
{
    docs_paragraph(out, "hint");
    docs_text(out, STR("a*b [c] <d> `e` \\"));
    docs_paragraph_end(out);
}

static void text_is_never_a_mark(void **state)
{
    (void)state;
    assert_written(put_marks, "<p class=\"hint\">a*b [c] &lt;d&gt; `e` \\</p>\n", "\na\\*b \\[c] \\<d> \\`e\\` \\\\\n");
}

static void put_ticks(struct docs_out *out)
{
    docs_word(out, "a``b");
    docs_pre(out, "sh", STR("echo ````"));
}

static void code_with_backticks_has_a_longer_fence(void **state)
{
    (void)state;
    assert_written(put_ticks, "<code>a``b</code><pre tabindex=\"0\"><code>echo ````</code></pre>\n",
                   "```a``b```\n`````sh\necho ````\n`````\n");
}

static void put_nested(struct docs_out *out)
{
    docs_list(out, "dl", "entries");
    docs_entry(out, "one");
    docs_word(out, "one");
    docs_told(out);
    docs_fold(out, NULL, true);
    docs_text(out, STR("Fields"));
    docs_fold_told(out);
    docs_list(out, "dl", "entries");
    docs_entry(out, NULL);
    docs_link_word(out, "/docs/errors", "X-409", "X");
    docs_told(out);
    docs_entry_end(out);
    docs_list_end(out, "dl");
    docs_fold_end(out);
    docs_entry_end(out);
    docs_list_end(out, "dl");
}

static void entries_within_entries_are_indented(void **state)
{
    (void)state;
    assert_written(put_nested,
                   "<dl class=\"entries\">\n<dt id=\"one\"><code>one</code></dt>\n<dd><details open><summary>Fields"
                   "</summary>\n<dl class=\"entries\">\n<dt><a href=\"/docs/errors#X-409\"><code>X</code></a></dt>\n"
                   "<dd></dd>\n</dl>\n</details>\n</dd>\n</dl>\n",
                   "\n- <a id=\"one\"></a>`one`\n  Fields:\n  - [`X`](/docs/errors.md#X-409)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_never_a_mark),
        cmocka_unit_test(code_with_backticks_has_a_longer_fence),
        cmocka_unit_test(entries_within_entries_are_indented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
