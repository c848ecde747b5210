/* Operations as code in each language. */
#include "documents/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/mem.h"

struct nothing {
    struct val limit, offset, name;
};
static const struct field query_fields[] = {FIELD(struct nothing, limit, T_INT, .max = 100),
                                            FIELD(struct nothing, offset, T_INT, .max = 100)};
static const struct shape query = SHAPE(struct nothing, "Query", query_fields);
static const struct field body_fields[] = {FIELD(struct nothing, name, T_STRING)};
static const struct shape body = SHAPE(struct nothing, "Body", body_fields);
static const struct route patch =
    ROUTE("patchThing", PATCH, "/v1/things/{buildingId}", .credential = CRED_KEY, .query = &query, .body = &body,
          .match = MATCH_GRANT, .reply = &body, .doc = {.status = 200});

/* The code of the row in all languages, as HTML. The caller frees it. */
static char *code_of(struct route row, const char *body_example)
{
    struct docs_operation o;
    struct buf out = BUF(65536);
    row.doc.body_example = body_example;
    docs_operation_init(&o, "https://door.example", &row);
    docs_put_code(&o, &(struct docs_out){&out, false, 0});
    assert_false(out.full);
    buf_char(&out, '\0');
    docs_operation_done(&o);
    return out.p;
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no %s in %s", part, text);
}

static void a_shell_reads_a_body_with_quotes_as_it_is(void **state)
{
    (void)state;
    char *code = code_of(patch, "{\"label\":\"O'Hara's <door>\"}");
    assert_contains(code, "O&#39;\\&#39;&#39;Hara&#39;\\&#39;&#39;s &lt;door&gt;");
    free(code);
}

static void python_has_its_own_literals(void **state)
{
    (void)state;
    char *code = code_of(patch, "{\"on\":true,\"off\":false,\"end\":null,\"list\":[true,[1]]}");
    const char *python = strstr(code, "import json");
    assert_non_null(python);
    assert_contains(code, "&quot;on&quot;: true");
    assert_contains(python, "&quot;on&quot;: True");
    assert_contains(python, "&quot;off&quot;: False");
    assert_contains(python, "&quot;end&quot;: None");
    free(code);
}

static void parameters_have_values_and_a_query_is_quoted(void **state)
{
    (void)state;
    char *code = code_of(patch, "{}");
    assert_contains(code, "curl -X PATCH &#39;https://door.example/v1/things/6b018faceb9d0c2ba6000001?limit=10&#39;");
    assert_contains(code, "-H &#39;If-Match: &quot;0&quot;&#39;");
    assert_contains(code, "&quot;If-Match&quot;: &quot;\\&quot;0\\&quot;&quot;");
    assert_null(strstr(code, "offset"));
    free(code);
}

/* The version that a request names is of the kind that its row says. */
static void a_version_is_the_grants_or_the_settings(void **state)
{
    (void)state;
    struct route row = patch;
    row.match = MATCH_SETTINGS;
    char *code = code_of(row, "{}");
    assert_contains(code, "-H &#39;If-Match: &quot;b5bb9d80");
    free(code);
    row.match = MATCH_NONE;
    code = code_of(row, "{}");
    assert_null(strstr(code, "If-Match"));
    free(code);
}

static void the_media_type_of_a_row_decides_how_its_answer_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *media;
        const char *curl, *javascript, *python;
    } cases[] = {
        {"text/event-stream", "curl --no-buffer ", "new TextDecoder()", "for line in response"},
        {"text/plain; charset=utf-8", "curl -X PATCH", "await response.text()", "response.read().decode()"},
        {"audio/wav", "curl --output portero.wav", "arrayBuffer()", "len(response.read())"},
        {NULL, "curl --location ", "await response.json()", "json.load(response)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct route row = patch;
        row.reply = NULL;
        row.media = cases[i].media;
        char *code = code_of(row, "{}");
        assert_contains(code, cases[i].curl);
        assert_contains(code, cases[i].javascript);
        assert_contains(code, cases[i].python);
        free(code);
    }
}

static void a_row_without_a_key_sends_none(void **state)
{
    (void)state;
    struct route row = patch;
    char *code = code_of(row, "{}");
    assert_contains(code, "Authorization: Bearer $PORTERO_KEY");
    free(code);
    row.credential = CRED_NONE;
    code = code_of(row, NULL);
    assert_null(strstr(code, "PORTERO_KEY"));
    assert_null(strstr(code, "Content-Type"));
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_shell_reads_a_body_with_quotes_as_it_is),
                                       cmocka_unit_test(python_has_its_own_literals),
                                       cmocka_unit_test(parameters_have_values_and_a_query_is_quoted),
                                       cmocka_unit_test(a_version_is_the_grants_or_the_settings),
                                       cmocka_unit_test(the_media_type_of_a_row_decides_how_its_answer_is_read),
                                       cmocka_unit_test(a_row_without_a_key_sends_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
