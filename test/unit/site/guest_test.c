/* The page of a guest: parts that depend on the grant, and its facts in the page's language. */
#include "site/guest.h"

#include "base/clock.h"
#include "base/unit.h"
#include "http/web.h"

#define DAYS                                                                                                           \
    "<!-- let days Sun|Mon|Tue|Wed|Thu|Fri|Sat --><!-- let each Sundays|Mondays|Tuesdays|Wednesdays|Thursdays|"        \
    "Fridays|Saturdays --><!-- let months Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec -->"                         \
    "<!-- let weekdays Monday to Friday --><!-- let weekend at weekends --><!-- let daily daily -->"
#define ENGLISH  DAYS "<!-- let clock 12 --><!-- let date {weekday} {day} {month}, {time} -->"
#define OTHERS   DAYS "<!-- let clock 24 --><!-- let date {day}. {month} {time} ({weekday}) -->"
#define AT(text) time_of(text)

static int64_t time_of(const char *text)
{
    int64_t at_us;
    assert_true(time_parse(str_z(text), &at_us));
    return at_us;
}

static const struct config silent = {.privacy_url = "", .privacy_contact = ""};

/* The page that the template makes of the view; it lives in the arena. */
static struct str page_of(struct arena *a, const char *template, const struct guest_view *view, size_t language)
{
    struct tx tx = {.arena = a, .config = &silent, .now_us = AT("2026-07-01T12:00:00Z")};
    struct buf out = BUF(1u << 16);
    guest_put(&tx, view, str_z(template), language, &out);
    assert_false(out.full);
    const struct str page = arena_str(a, buf_view(&out));
    buf_done(&out);
    return page;
}

static void assert_page(const char *template, const struct guest_view *view, const char *page)
{
    struct arena a;
    arena_init(&a, NULL, 0);
    assert_text(page_of(&a, template, view, 0), page);
    arena_done(&a);
}

/* ---- views ---- */

static const struct guest_view code = {
    .grant = {.type = GRANT_PASSCODE, .code = "0429", .ends_us = GRANT_NO_END},
    .building = {"5 <Main> & \"Co\"", 15},
    .works = true,
};

static struct guest_view timer(const char *starts, const char *ends)
{
    return (struct guest_view){.grant = {.type = GRANT_TIMER, .starts_us = AT(starts), .ends_us = AT(ends)},
                               .building = STR("Home"),
                               .timezone = STR("America/New_York"),
                               .works = true};
}

static struct guest_view routine(unsigned days)
{
    return (struct guest_view){
        .grant = {.type = GRANT_ROUTINE,
                  .ends_us = GRANT_NO_END,
                  .schedule = {.count = 1, .windows = {{days, 30, 13 * 60}}, .timezone = STR("Europe/Paris")}},
        .building = STR("Home"),
        .works = true};
}

/* ---- parts ---- */

static void a_part_is_kept_if_its_word_holds(void **state)
{
    (void)state;
    static const char all[] =
        "<!-- if on -->on <!-- end --><!-- if off -->off <!-- end --><!-- if code -->code <!-- end -->"
        "<!-- if voice -->voice <!-- end --><!-- if timer -->timer <!-- end --><!-- if routine -->routine <!-- end -->"
        "<!-- if open -->open <!-- end --><!-- if from -->from <!-- end --><!-- if until -->until <!-- end -->"
        "<!-- if times -->times <!-- end --><!-- if en -->en <!-- end --><!-- if es -->es <!-- end -->"
        "<!-- if nonsense -->nonsense <!-- end -->.";
    struct guest_view spoken = code, shut = code;
    const struct guest_view running = timer("2026-07-01T11:00:00Z", "2026-07-01T20:00:00Z"),
                            later = timer("2026-07-02T11:00:00Z", "2026-07-02T20:00:00Z"), weekly = routine(1);
    spoken.grant.voice = true;
    shut.works = false;
    const struct {
        const struct guest_view *view;
        const char *page;
    } cases[] = {
        {&code, "on code en ."},
        {&spoken, "on code voice en ."},
        {&shut, "off code en ."},
        {&running, "on timer open until times en ."},
        {&later, "on timer open from times en ."},
        {&weekly, "on routine open times en ."},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_page(all, cases[i].view, cases[i].page);
}

static void parts_are_nested(void **state)
{
    (void)state;
    assert_page("a<!-- if on -->b<!-- if voice -->c<!-- if code -->d<!-- end -->e<!-- end -->f<!-- end -->g", &code,
                "abfg");
    assert_page("a<!-- if off -->b<!-- if code -->c<!-- end -->d<!-- end -->e<!-- end -->f", &code, "aef");
}

static void a_language_is_a_word(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t language = 0; language < WEB_LANGUAGES; language++) {
        struct str page =
            page_of(&a, "<!-- if en -->en<!-- end --><!-- if es -->es<!-- end --><!-- if fr -->fr<!-- end -->", &code,
                    language);
        assert_text(page, web_languages[language]);
    }
    arena_done(&a);
}

/* ---- facts ---- */

static void facts_are_escaped_and_other_braces_stay(void **state)
{
    (void)state;
    assert_page("<h1>{building}</h1> {code} a{color:red} {until}{ {", &code,
                "<h1>5 &lt;Main&gt; &amp; &quot;Co&quot;</h1> 0429 a{color:red} { {");
    struct guest_view marked = code;
    marked.building = STR("<!-- if off -->{code}<!-- end -->");
    assert_page("{building}", &marked, "&lt;!-- if off --&gt;{code}&lt;!-- end --&gt;");
}

/* GRANT-35 */
static void times_are_of_the_buildings_zone_in_the_form_of_the_language(void **state)
{
    (void)state;
    struct guest_view v = timer("2026-07-02T04:05:00Z", "2026-12-25T17:00:00Z");
    assert_page(ENGLISH "{from} to {until}, {city}", &v, "Thu 2 Jul, 12:05 am to Fri 25 Dec, 12:00 pm, New York");
    assert_page(OTHERS "{from} - {until}", &v, "2. Jul 00:05 (Thu) - 25. Dec 12:00 (Fri)");
    v.timezone = STR_NONE;
    assert_page(OTHERS "{from} {city}", &v, "2. Jul 04:05 (Thu) UTC");
}

static const struct {
    unsigned days;
    const char *text;
} weeks[] = {
    {1, "Sundays"},
    {1u << 6, "Saturdays"},
    {SCHEDULE_WEEKDAYS, "Monday to Friday"},
    {SCHEDULE_WEEKEND, "at weekends"},
    {SCHEDULE_EVERY_DAY, "daily"},
};

static void a_routine_tells_its_days_and_hours_in_its_own_zone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(weeks); i++) {
        struct guest_view v = routine(weeks[i].days);
        char page[64];
        v.timezone = STR("America/New_York");
        snprintf(page, sizeof page, "%s 12:30 am-1:00 pm Paris", weeks[i].text);
        assert_page(ENGLISH "{days} {start}-{end} {city}", &v, page);
    }
    const struct guest_view v = routine(1);
    assert_page(OTHERS "{start}-{end}", &v, "00:30-13:00");
}

/* The real template: no mark and no fact is left over, in any language and of any grant. */
static void the_page_of_each_language_is_filled_in(void **state)
{
    (void)state;
    const struct guest_view views[] = {code, timer("2026-07-02T04:05:00Z", "2026-07-03T04:05:00Z"), routine(1u << 3)};
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < 2 * WEB_LANGUAGES * COUNT(views); i++) {
        const size_t variant = i % (2 * WEB_LANGUAGES);
        struct tx tx = {.arena = &a, .config = &silent, .now_us = AT("2026-07-01T12:00:00Z")};
        struct buf out = BUF(1u << 17);
        guest_put(&tx, &views[i / (2 * WEB_LANGUAGES)], web_site_guest_html[variant].body[HTTP_CODING_NONE],
                  variant % WEB_LANGUAGES, &out);
        assert_true(out.n > 1000 && !out.full);
        assert_null(memmem(out.p, out.n, "<!-- ", 5));
        for (const char *const *name =
                 (const char *const[]){"{building}", "{code}", "{from}", "{until}", "{days}", NULL};
             *name; name++)
            assert_null(memmem(out.p, out.n, *name, strlen(*name)));
        buf_done(&out);
    }
    arena_done(&a);
}

/* GRANT-32 */
static void a_grant_that_is_off_has_a_page_without_its_code(void **state)
{
    (void)state;
    struct arena a;
    struct guest_view shut = code;
    shut.works = false;
    arena_init(&a, NULL, 0);
    for (size_t language = 0; language < WEB_LANGUAGES; language++) {
        const char *template = web_site_guest_html[language].body[HTTP_CODING_NONE].p;
        const struct str open = page_of(&a, template, &code, language), off = page_of(&a, template, &shut, language);
        assert_non_null(memmem(open.p, open.n, "0429", 4));
        assert_null(memmem(off.p, off.n, "0429", 4));
    }
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_kept_if_its_word_holds),
        cmocka_unit_test(parts_are_nested),
        cmocka_unit_test(a_language_is_a_word),
        cmocka_unit_test(facts_are_escaped_and_other_braces_stay),
        cmocka_unit_test(times_are_of_the_buildings_zone_in_the_form_of_the_language),
        cmocka_unit_test(a_routine_tells_its_days_and_hours_in_its_own_zone),
        cmocka_unit_test(the_page_of_each_language_is_filled_in),
        cmocka_unit_test(a_grant_that_is_off_has_a_page_without_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
