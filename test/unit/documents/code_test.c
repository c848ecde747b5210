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

#define OPERATION                                                                                                      \
    "{\"operationId\":\"patchThing\",\"security\":[{\"key\":[]}],\"parameters\":["                                     \
    "{\"name\":\"buildingId\",\"in\":\"path\",\"required\":true,\"schema\":{\"pattern\":\"^[a-fA-F0-9]{24}$\"}},"      \
    "{\"name\":\"limit\",\"in\":\"query\",\"required\":false,\"schema\":{}},"                                          \
    "{\"name\":\"If-Match\",\"in\":\"header\",\"required\":true,\"schema\":{\"pattern\":\"^[0-9]+$\"}}],"              \
    "\"requestBody\":{\"content\":{\"application/json\":{\"example\":%s}}},"                                           \
    "\"responses\":{\"200\":{\"content\":{\"application/json\":{}}}}}"

/* The code of all languages for that body, as HTML. The caller frees it. */
static char *code_of(const char *body)
{
    char *text = mem_printf(OPERATION, body);
    json_t *operation = json_loads(text, 0, NULL);
    const struct docs_operation o = {"https://door.example", "patch", "/v1/things/{buildingId}", operation};
    struct buf out = BUF(65536);
    assert_non_null(operation);
    docs_put_code(&o, &(struct docs_out){&out, false, 0});
    assert_false(out.full);
    buf_char(&out, '\0');
    json_decref(operation);
    free(text);
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
    char *code = code_of("{\"label\":\"O'Hara's <door>\"}");
    assert_contains(code, "O&#39;\\&#39;&#39;Hara&#39;\\&#39;&#39;s &lt;door&gt;");
    free(code);
}

static void python_has_its_own_literals(void **state)
{
    (void)state;
    char *code = code_of("{\"on\":true,\"off\":false,\"end\":null,\"list\":[true,[1]]}");
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
    char *code = code_of("{}");
    assert_contains(code, "curl -X PATCH &#39;https://door.example/v1/things/6b018faceb9d0c2ba6000001?limit=10&#39;");
    assert_contains(code, "-H &#39;If-Match: &quot;0&quot;&#39;");
    assert_contains(code, "&quot;If-Match&quot;: &quot;\\&quot;0\\&quot;&quot;");
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_shell_reads_a_body_with_quotes_as_it_is),
                                       cmocka_unit_test(python_has_its_own_literals),
                                       cmocka_unit_test(parameters_have_values_and_a_query_is_quoted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
