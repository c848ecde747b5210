/* portero.conf, the sample, matches tbl/config.def.
 * reads: portero.conf */
#include "base/config_table.h"

#include "base/buf.h"
#include "config_fixture.h"

#define SAMPLE_MAX 100000

static struct str sample(void)
{
    static char text[SAMPLE_MAX];
    FILE *f = fopen(SOURCE_DIR "/portero.conf", "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    assert_true(n < sizeof text);
    fclose(f);
    return str_n(text, n);
}

static void put_words(struct buf *b, const char *words)
{
    struct str rest = str_z(words);
    for (const char *lead = " ("; rest.p; lead = ", ") {
        buf_str(b, str_z(lead));
        buf_str(b, str_cut(rest, '|', &rest));
    }
    buf_char(b, ')');
}

/* A key in the sample: a comment with description and range, then the assignment, active or after a #. */
static void put_key(struct buf *b, const struct config_row *r, const char *value, const char *indent, bool active)
{
    buf_printf(b, "%s# %s", indent, r->doc);
    if (r->kind == CONFIG_INTEGER)
        buf_printf(b, " (%lld to %lld)", (long long)r->lo, (long long)r->hi);
    if (r->kind == CONFIG_ENUM || r->kind == CONFIG_WORDS)
        put_words(b, r->words);
    if (r->kind == CONFIG_SECRET)
        buf_lit(b, " (secret)");
    bool bare = r->kind == CONFIG_INTEGER || r->kind == CONFIG_BOOLEAN || (r->kind == CONFIG_ENUM && *value) ||
                r->kind == CONFIG_CIDRS;
    buf_printf(b, "\n%s%s%s = %s%s%s\n", indent, active ? "" : "#", r->key, bare ? "" : "\"",
               r->kind == CONFIG_CIDRS && !*value ? "{}" : value, bare ? "" : "\"");
}

/* Finds the key in *rest and advances *rest to its end, since keys are in the order of the table. */
static void expect_key(struct str *rest, const struct config_row *r, const char *value, const char *indent)
{
    for (int active = 0; active < 2; active++) {
        struct buf want = BUF(1000);
        put_key(&want, r, value, indent, active);
        const char *at = memmem(rest->p, rest->n, want.p, want.n);
        if (at)
            *rest = str_from(*rest, (size_t)(at - rest->p) + want.n);
        else if (active)
            print_error("missing, or not in order:\n%.*s", STR_ARG(buf_view(&want)));
        buf_done(&want);
        if (at)
            return;
    }
    fail();
}

static void expect_line(struct str *rest, const char *format, const char *name)
{
    char want[100];
    snprintf(want, sizeof want, format, name);
    const char *at = memmem(rest->p, rest->n, want, strlen(want));
    if (!at)
        fail_msg("missing, or not in order: %s", want);
    *rest = str_from(*rest, (size_t)(at - rest->p) + strlen(want));
}

static const char *plan_value(const struct config_plan *plan, const struct config_row *r)
{
    static char text[32];
    const char *base = (const char *)plan;
    if (r->kind == CONFIG_INTEGER)
        snprintf(text, sizeof text, "%lld", (long long)*(const int64_t *)(const void *)(base + r->offset));
    else if (r->kind == CONFIG_BOOLEAN)
        snprintf(text, sizeof text, "%s", *(const bool *)(base + r->offset) ? "true" : "false");
    else
        snprintf(text, sizeof text, "%s", *(const char *const *)(const void *)(base + r->offset));
    return text;
}

/* The keys of a peer follow the last key of the section, as an example. */
static void expect_peer(struct str *rest)
{
    expect_line(rest, "    #peer %s {\n", "trunk");
    for (const struct config_row *r = config_peer_rows; r->key; r++)
        expect_key(rest, r, r->kind == CONFIG_CIDRS ? "{\"203.0.113.0/24\"}" : r->dflt, "        ");
}

static void the_sample_documents_every_key_in_table_order(void **state)
{
    (void)state;
    struct str rest = sample();
    const char *section = "top";
    for (const struct config_row *r = config_rows; r->key; r++) {
        if (strcmp(r->section, section) != 0)
            expect_line(&rest, "\n%s {\n", section = r->section);
        expect_key(&rest, r, r->dflt, config_is_top(r) ? "" : "    ");
        if (strcmp(section, "voice") == 0 && (!r[1].key || strcmp(r[1].section, section) != 0))
            expect_peer(&rest);
    }
    for (size_t i = 0; i < CONFIG_PLANS; i++) {
        expect_line(&rest, "    plan %s {\n", config_plan_defaults[i].id);
        for (const struct config_row *r = config_plan_rows; r->key; r++)
            expect_key(&rest, r, plan_value(&config_plan_defaults[i], r), "        ");
    }
}

static size_t count_rows(const struct config_row *rows)
{
    size_t n = 0;
    while (rows[n].key)
        n++;
    return n;
}

static void the_sample_has_no_unknown_key(void **state)
{
    (void)state;
    struct str rest = sample();
    size_t assignments = 0;
    while (rest.p) {
        struct str line = str_trim(str_cut(rest, '\n', &rest)), value;
        if (line.n && line.p[0] == '#')
            line = str_from(line, 1);
        struct str key = str_cut(line, ' ', &value);
        assignments += key.n && str_starts(value, STR("= "));
    }
    assert_int_equal(assignments, count_rows(config_rows) + CONFIG_PLANS * count_rows(config_plan_rows) +
                                      count_rows(config_peer_rows));
}

/* The sample without the # before keys. */
static struct str uncommented(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '#' || i + 1 == text.n || text.p[i + 1] == ' ' || text.p[i + 1] == '\n')
            buf_char(out, text.p[i]);
    return buf_view(out);
}

static void assert_defaults(const struct config *c)
{
    struct config *d = NULL;
    char *why = NULL;
    write_file("portero.conf", STR(""));
    assert_int_equal(config_load("portero.conf", &d, &why), ERR_NONE);
#define STRING(section, key, dflt, doc)          assert_string_equal(c->section##_##key, d->section##_##key);
#define INTEGER(section, key, dflt, lo, hi, doc) assert_int_equal(c->section##_##key, d->section##_##key);
#define BOOLEAN(section, key, dflt, doc)         assert_int_equal(c->section##_##key, d->section##_##key);
#define CIDRS(section, key, doc)                 assert_null(c->section##_##key[0]);
#include "tbl/config.def"
    for (size_t i = 0; i < CONFIG_PLANS; i++) {
        assert_int_equal(c->plans[i].amount_minor, d->plans[i].amount_minor);
        assert_string_equal(c->plans[i].currency, d->plans[i].currency);
        assert_string_equal(c->plans[i].interval, d->plans[i].interval);
        assert_int_equal(c->plans[i].interval_count, d->plans[i].interval_count);
        assert_int_equal(c->plans[i].available, d->plans[i].available);
    }
    config_free(d);
}

static void the_sample_gives_the_defaults_with_and_without_comment_signs(void **state)
{
    (void)state;
    struct config *c = NULL;
    char *why = NULL;
    struct buf all = BUF(SAMPLE_MAX);
    if (config_load(SOURCE_DIR "/portero.conf", &c, &why))
        fail_msg("%s", why);
    assert_defaults(c);
    config_free(c);
    write_file("portero.conf", uncommented(sample(), &all));
    buf_done(&all);
    if (config_load("portero.conf", &c, &why))
        fail_msg("%s", why);
    assert_defaults(c);
    config_free(c);
}

static void keys_of_a_section_are_adjacent_in_the_table(void **state)
{
    (void)state;
    assert_true(config_is_top(&config_rows[0]));
    for (const struct config_row *r = config_rows + 1; r->key; r++) {
        if (strcmp(r->section, r[-1].section) == 0)
            continue;
        for (const struct config_row *before = config_rows; before < r; before++)
            assert_string_not_equal(before->section, r->section);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_documents_every_key_in_table_order),
        cmocka_unit_test(the_sample_has_no_unknown_key),
        cmocka_unit_test_setup_teardown(the_sample_gives_the_defaults_with_and_without_comment_signs,
                                        config_fixture_setup, config_fixture_teardown),
        cmocka_unit_test(keys_of_a_section_are_adjacent_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
