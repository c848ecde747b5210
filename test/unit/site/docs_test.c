/* The documents that were rendered when the program was built, as a service serves them. */
#include "site/docs.h"

#include <zlib.h>

#include "base/unit.h"

#define GUIDE   "Ask " DOCS_PUBLIC_URL "/v1/account, then " DOCS_PUBLIC_URL "."
#define PLAIN   "no address"
#define OWN     "of the sandbox alone"
#define FOREIGN "https://this-service.invalidity, https://this"
#define ROOM    256

static unsigned char packed[4][ROOM];
/* Bytes after the end of a compressed text are not read. */
#define TEXT(at, kind, where, text, i)                                                                                 \
    {                                                                                                                  \
        at, kind, where, sizeof(text) - 1,                                                                             \
        {                                                                                                              \
            (const char *)packed[i], ROOM                                                                              \
        }                                                                                                              \
    }
const struct docs_text docs_texts[] = {
    TEXT("/docs/api", "text/html; charset=utf-8", DOCS_PRODUCTION | DOCS_SANDBOX, GUIDE, 0),
    TEXT("/docs/api.md", "text/markdown; charset=utf-8", DOCS_PRODUCTION, PLAIN, 1),
    TEXT("/docs/api.md", "text/markdown; charset=utf-8", DOCS_SANDBOX, OWN, 2),
    TEXT("/llms.txt", "text/plain; charset=utf-8", DOCS_PRODUCTION, FOREIGN, 3),
    {0},
};

static int pack_all(void **state)
{
    (void)state;
    static const char *const texts[] = {GUIDE, PLAIN, OWN, FOREIGN};
    for (size_t i = 0; i < COUNT(texts); i++) {
        uLongf size = ROOM;
        if (compress(packed[i], &size, (const Bytef *)texts[i], strlen(texts[i])) != Z_OK)
            return -1;
    }
    return 0;
}

static const struct {
    enum docs_mode mode;
    const char *path;
    const char *text; /* NULL: not found */
    const char *media;
} finds[] = {
    {DOCS_PRODUCTION, "/docs/api", "Ask https://a.example/v1/account, then https://a.example.", "text/html"},
    {DOCS_SANDBOX, "/docs/api", "Ask https://a.example/v1/account, then https://a.example.", "text/html"},
    {DOCS_PRODUCTION, "/docs/api.md", PLAIN, "text/markdown"},
    {DOCS_SANDBOX, "/docs/api.md", OWN, "text/markdown"},
    {DOCS_PRODUCTION, "/llms.txt", "https://a.exampleity, https://this", "text/plain"},
    {DOCS_SANDBOX, "/llms.txt", NULL, NULL},
    {DOCS_PRODUCTION, "/docs/ap", NULL, NULL},
    {DOCS_PRODUCTION, "/docs/api/", NULL, NULL},
    {DOCS_PRODUCTION, "", NULL, NULL},
};

static void a_document_is_found_by_path_and_mode_and_has_the_services_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(finds); i++) {
        struct docs *d = docs_new(finds[i].mode, "https://a.example");
        const struct http_asset *found = docs_find(d, str_z(finds[i].path));
        if (finds[i].text) {
            assert_non_null(found);
            assert_text(found->content.body[HTTP_CODING_NONE], finds[i].text);
            assert_true(str_starts(str_z(found->media), str_z(finds[i].media)));
        } else {
            assert_null(found);
        }
        docs_free(d);
    }
}

static void a_document_is_made_once(void **state)
{
    (void)state;
    struct docs *d = docs_new(DOCS_PRODUCTION, "https://a.example");
    const struct http_asset *first = docs_find(d, STR("/docs/api"));
    const char *text = first->content.body[HTTP_CODING_NONE].p;
    assert_ptr_equal(docs_find(d, STR("/docs/api")), first);
    assert_ptr_equal(first->content.body[HTTP_CODING_NONE].p, text);
    docs_free(d);
}

static void services_at_several_addresses_each_have_their_own(void **state)
{
    (void)state;
    struct docs *a = docs_new(DOCS_PRODUCTION, "https://a.example"), *b = docs_new(DOCS_PRODUCTION, "https://b");
    assert_text(docs_find(b, STR("/docs/api"))->content.body[HTTP_CODING_NONE],
                "Ask https://b/v1/account, then https://b.");
    assert_text(docs_find(a, STR("/docs/api"))->content.body[HTTP_CODING_NONE],
                "Ask https://a.example/v1/account, then https://a.example.");
    docs_free(a);
    docs_free(b);
    docs_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_found_by_path_and_mode_and_has_the_services_address),
        cmocka_unit_test(a_document_is_made_once),
        cmocka_unit_test(services_at_several_addresses_each_have_their_own),
    };
    return cmocka_run_group_tests(tests, pack_all, NULL);
}
