#include "base/buf.h"
#include "domain/activity.h"
#include "domain/building_fixture.h"

struct writer {
    struct building_fixture *fx;
    struct activity entry;
};

static enum err add_run(struct tx *tx, void *arg)
{
    struct writer *w = arg;
    return activity_add(tx, &w->fx->building, &w->entry);
}

static void add(struct building_fixture *fx, struct activity entry)
{
    struct writer w = {fx, entry};
    assert_int_equal(fixture_run(fx, STORE_WRITE, add_run, &w), ERR_NONE);
}

struct reader {
    struct building_fixture *fx;
    struct activity_filter filter;
    struct activity_page page;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct reader *r = arg;
    return activity_list(tx, &r->fx->building, &r->filter, &r->page);
}

static enum err list(struct building_fixture *fx, struct activity_filter filter, struct activity_page *ret)
{
    struct reader r = {fx, filter, {.count = 0}};
    enum err e = fixture_run(fx, STORE_READ, list_run, &r);
    *ret = r.page;
    return e;
}

/* The names in a list with this filter, "name name", read in pages of `limit`. */
static const char *names(struct building_fixture *fx, struct activity_filter filter, int64_t limit)
{
    struct buf out = BUF(100000);
    struct activity_page page = {.more = true};
    filter.limit = v_int(limit);
    while (page.more) {
        assert_int_equal(list(fx, filter, &page), ERR_NONE);
        assert_true(page.count == (size_t)limit || !page.more);
        assert_int_equal(page.more, page.cursor.p != NULL);
        for (size_t i = 0; i < page.count; i++) {
            buf_printf(&out, "%s", out.n ? " " : "");
            buf_str(&out, page.items[i].name);
        }
        filter.cursor = v_str(page.cursor);
    }
    const char *text = arena_str(&fx->arena, buf_view(&out)).p;
    buf_done(&out);
    return text;
}

/* Adds entries a, b, …: groups of three at the same time, a minute apart. */
static void write_letters(struct building_fixture *fx, int n)
{
    for (int i = 0; i < n; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        if (i && i % 3 == 0)
            fx->now_us += MINUTES;
        add(fx, (struct activity){.type = i % 4 == 3 ? ACTIVITY_CALL : ACTIVITY_UNLOCK,
                                  .unlock_type = i % 4 == 3 ? STR_NONE : STR("timer"),
                                  .name = arena_str(&fx->arena, str_z(name)),
                                  .succeeded = i % 2 == 0});
    }
}

/* LOG-1 */
static void test_entries_are_sorted_newest_first_for_every_page_size(void **state)
{
    struct building_fixture *fx = *state;
    write_letters(fx, 10);
    for (int64_t limit = 1; limit <= 12; limit++)
        assert_string_equal(names(fx, (struct activity_filter){0}, limit), "j i h g f e d c b a");
}

static void test_an_entry_is_read_as_it_was_written(void **state)
{
    struct building_fixture *fx = *state;
    const struct id grant = id_new(fx->now_us);
    fx->now_us += 1234567;
    add(fx, (struct activity){.type = ACTIVITY_UNLOCK,
                              .unlock_id = grant,
                              .unlock_type = STR("passcode"),
                              .name = STR("Ana"),
                              .succeeded = true});
    struct activity_page page;
    assert_int_equal(list(fx, (struct activity_filter){0}, &page), ERR_NONE);
    assert_int_equal(page.count, 1);
    const struct activity *e = &page.items[0];
    assert_int_equal(e->type, ACTIVITY_UNLOCK);
    assert_string_equal(e->unlock_id.text, grant.text);
    assert_true(str_eq(e->unlock_type, STR("passcode")));
    assert_true(e->succeeded);
    assert_int_equal(e->created_us, fx->now_us - fx->now_us % 1000); /* whole milliseconds */
    fx->now_us += MINUTES;
    add(fx, (struct activity){.type = ACTIVITY_CALL, .name = STR("Forwarded call")});
    assert_int_equal(list(fx, (struct activity_filter){0}, &page), ERR_NONE);
    assert_int_equal(page.items[0].type, ACTIVITY_CALL);
    assert_false(id_given(&page.items[0].unlock_id));
    assert_null(page.items[0].unlock_type.p);
    assert_false(page.items[0].succeeded);
}

static void test_filters_narrow_the_list(void **state)
{
    struct building_fixture *fx = *state;
    const int64_t start = fx->now_us;
    write_letters(fx, 10);
    for (int64_t limit = 1; limit <= 4; limit += 3) {
        assert_string_equal(names(fx, (struct activity_filter){.type = text("call")}, limit), "h d");
        assert_string_equal(names(fx, (struct activity_filter){.type = text("unlock")}, limit), "j i g f e c b a");
        assert_string_equal(names(fx, (struct activity_filter){.succeeded = v_bool(true)}, limit), "i g e c a");
        assert_string_equal(names(fx, (struct activity_filter){.succeeded = v_bool(false)}, limit), "j h f d b");
        assert_string_equal(
            names(fx, (struct activity_filter){.succeeded = v_bool(false), .type = text("unlock")}, limit), "j f b");
        /* Both ends are inclusive. */
        assert_string_equal(
            names(fx, (struct activity_filter){.since = v_time(start + MINUTES), .until = v_time(start + 2 * MINUTES)},
                  limit),
            "i h g f e d");
        assert_string_equal(names(fx, (struct activity_filter){.since = v_time(start + MINUTES + 1)}, limit),
                            "j i h g");
        assert_string_equal(names(fx, (struct activity_filter){.until = v_time(start + MINUTES - 1)}, limit), "c b a");
        assert_string_equal(names(fx, (struct activity_filter){.until = v_time(-1)}, limit), "");
        assert_string_equal(names(fx, (struct activity_filter){.since = v_time(start), .until = v_time(start)}, limit),
                            "c b a");
    }
    struct activity_page page;
    assert_int_equal(list(fx, (struct activity_filter){.since = v_time(start + 1), .until = v_time(start)}, &page),
                     ERR_INVALID_DATE);
}

static void test_the_entries_of_one_grant_can_be_listed(void **state)
{
    struct building_fixture *fx = *state;
    const struct id a = id_new(fx->now_us), b = id_new(fx->now_us);
    for (int i = 0; i < 7; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        add(fx, (struct activity){
                    .unlock_id = i % 2 ? a : b, .name = arena_str(&fx->arena, str_z(name)), .succeeded = i < 4});
        if (i % 3 == 2)
            fx->now_us += MINUTES;
    }
    for (int64_t limit = 1; limit <= 3; limit++) {
        assert_string_equal(names(fx, (struct activity_filter){.unlock_id = text(a.text)}, limit), "f d b");
        assert_string_equal(names(fx, (struct activity_filter){.unlock_id = text(b.text)}, limit), "g e c a");
        assert_string_equal(
            names(fx, (struct activity_filter){.unlock_id = text(b.text), .succeeded = v_bool(true)}, limit), "c a");
        assert_string_equal(names(fx, (struct activity_filter){.unlock_id = text(b.text), .q = text("G")}, limit), "g");
        assert_string_equal(names(fx, (struct activity_filter){.unlock_id = text(fx->building.text)}, limit), "");
    }
}

/* LOG-4 */
static void test_the_search_is_literal_and_ignores_case(void **state)
{
    struct building_fixture *fx = *state;
    static const char *const stored[] = {"Anna-Müller", "STRASSE", "100%_sure!", "ΑΘΗΝΑ", "naïve\\path", "Ёлка"};
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        add(fx, (struct activity){.name = str_z(stored[i])});
    static const struct {
        const char *q, *found;
    } cases[] = {
        {"anna", "Anna-Müller"},
        {"MÜLL", "Anna-Müller"},
        {"mu\xcc\x88ller", "Anna-Müller"}, /* composed or not */
        {"straße", "STRASSE"},
        {"0%_S", "100%_sure!"},
        {"%", "100%_sure!"},
        {"_", "100%_sure!"},
        {"!", "100%_sure!"},
        {"αθηνα", "ΑΘΗΝΑ"},
        {"\\P", "naïve\\path"},
        {"ёЛК", "Ёлка"},
        {"100s", ""},
        {"a%a", ""},
        {"mull", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(names(fx, (struct activity_filter){.q = text(cases[i].q)}, 50), cases[i].found);
    struct activity_page page;
    assert_int_equal(list(fx, (struct activity_filter){.q = text("\xff")}, &page), ERR_INVALID_QUERY);
}

static void test_texts_are_compared_without_case_and_accents(void **state)
{
    struct building_fixture *fx = *state;
    static const struct {
        const char *text, *plain;
    } cases[] = {
        {"", ""},
        {"Nguyễn", "nguyen"},
        {"NGUYE\xcc\x82\xcc\x83N", "nguyen"},
        {"Müller, 4ème", "muller, 4eme"},
        {"Ёлка", "елка"},
        {"+15550001111", "+15550001111"},
        {"김", "김"},
        {"STRASSE", "strasse"},
    };
    struct str of_text, of_plain;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(activity_fold_plain(&fx->arena, str_z(cases[i].text), &of_text));
        assert_true(activity_fold_plain(&fx->arena, str_z(cases[i].plain), &of_plain));
        assert_true(str_eq(of_text, of_plain));
    }
    assert_true(activity_fold_plain(&fx->arena, STR("Nguyễn"), &of_text));
    assert_true(str_eq(of_text, STR("nguyen")));
    assert_true(activity_fold_plain(&fx->arena, STR("김"), &of_text));
    assert_true(activity_fold_plain(&fx->arena, STR("긴"), &of_plain));
    assert_false(str_eq(of_text, of_plain));
    assert_false(activity_fold_plain(&fx->arena, STR("\xff"), &of_text));
}

/* LOG-2 */
static void test_a_cursor_is_valid_only_for_its_own_list(void **state)
{
    struct building_fixture *fx = *state;
    write_letters(fx, 6);
    const struct activity_filter filter = {.limit = v_int(2), .q = text("a"), .succeeded = v_bool(true)};
    struct activity_filter f = filter;
    f.q = (struct val){0};
    struct activity_page page, next;
    assert_int_equal(list(fx, f, &page), ERR_NONE);
    assert_true(page.more);
    f.cursor = v_str(page.cursor);
    f.limit = v_int(1); /* no filter */
    assert_int_equal(list(fx, f, &next), ERR_NONE);

    const struct activity_filter others[] = {
        {.cursor = f.cursor},
        {.cursor = f.cursor, .succeeded = v_bool(false)},
        {.cursor = f.cursor, .succeeded = v_bool(true), .q = text("a")},
        {.cursor = f.cursor, .succeeded = v_bool(true), .type = text("unlock")},
        {.cursor = f.cursor, .succeeded = v_bool(true), .since = v_time(0)},
        {.cursor = f.cursor, .succeeded = v_bool(true), .until = v_time(0)},
        {.cursor = f.cursor, .succeeded = v_bool(true), .unlock_id = text(fx->building.text)},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(list(fx, others[i], &next), ERR_INVALID_CURSOR);
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    assert_int_equal(list(fx, f, &next), ERR_INVALID_CURSOR);
}

static void test_a_cursor_that_was_altered_is_refused(void **state)
{
    struct building_fixture *fx = *state;
    write_letters(fx, 6);
    struct activity_filter f = {.limit = v_int(2)};
    struct activity_page page, next;
    assert_int_equal(list(fx, f, &page), ERR_NONE);
    assert_int_equal(page.cursor.n, 64);
    char *text = arena_alloc(&fx->arena, page.cursor.n + 1);
    for (size_t i = 0; i < page.cursor.n; i++) {
        memcpy(text, page.cursor.p, page.cursor.n);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        f.cursor = v_str(str_n(text, page.cursor.n));
        assert_int_equal(list(fx, f, &next), ERR_INVALID_CURSOR);
    }
    for (size_t n = 0; n < page.cursor.n; n++) {
        f.cursor = v_str(str_n(page.cursor.p, n));
        assert_int_equal(list(fx, f, &next), ERR_INVALID_CURSOR);
    }
    f.cursor = v_str(page.cursor);
    assert_int_equal(list(fx, f, &next), ERR_NONE);
}

static void test_pages_neither_repeat_nor_skip_entries_while_others_are_written(void **state)
{
    struct building_fixture *fx = *state;
    write_letters(fx, 6);
    struct activity_filter f = {.limit = v_int(4)};
    struct activity_page page;
    assert_int_equal(list(fx, f, &page), ERR_NONE); /* f e d c */
    add(fx, (struct activity){.name = STR("new")});
    f.cursor = v_str(page.cursor);
    assert_int_equal(list(fx, f, &page), ERR_NONE);
    assert_int_equal(page.count, 2);
    assert_true(str_eq(page.items[0].name, STR("b")));
    assert_true(str_eq(page.items[1].name, STR("a")));
    assert_false(page.more);
}

#define TESTS(T)                                                                                                       \
    T(test_entries_are_sorted_newest_first_for_every_page_size), T(test_an_entry_is_read_as_it_was_written),           \
        T(test_filters_narrow_the_list), T(test_the_entries_of_one_grant_can_be_listed),                               \
        T(test_the_search_is_literal_and_ignores_case), T(test_texts_are_compared_without_case_and_accents),           \
        T(test_a_cursor_is_valid_only_for_its_own_list), T(test_a_cursor_that_was_altered_is_refused),                 \
        T(test_pages_neither_repeat_nor_skip_entries_while_others_are_written)

FIXTURE_RUN(TESTS)
