/* The cost of passes at the door: a decision in a building with 500 passes against one with 500 passcodes of the
 * contract, in turn, on both engines. Each passcode may open at any time; each pass has two windows, and opens now.
 *
 * usage: bench_passes
 * prints for each engine: the median of an arrival and of a right code, in us without the commit, with passes and with
 * passcodes. */
#include "domain/access_fixture.h"
#include "domain/pass.h"
#include "sized.h"

#define GRANTS  500
#define REPEATS 300

enum kind { PASSES, PASSCODES, KINDS };

struct side {
    struct id building;
    const char *number;
    double arrival_us[REPEATS], code_us[REPEATS];
};

static struct val windows(struct arena *a)
{
    struct pass_window *list = arena_array(a, struct pass_window, 2);
    struct val *names = arena_array(a, struct val, 7);
    for (int i = 0; schedule_day_names[i]; i++)
        names[i] = text(schedule_day_names[i]);
    list[0] = (struct pass_window){v_list(names, 1), text("22:00"), text("06:00")};
    list[1] = (struct pass_window){v_list(names, 7), text("00:00"), text("00:00")};
    return v_list(list, 2);
}

struct filling {
    struct building_fixture *fx;
    const struct side *side;
    enum kind kind;
    int count;
};

static enum err add_one(struct tx *tx, const struct filling *f, int i)
{
    struct grant made;
    bool replayed;
    const struct grant_place place = {.building = &f->side->building};
    const struct val code = v_str(arena_printf(tx->arena, "%04d", 5000 + i));
    const struct grant_request request = {.id = arena_printf(tx->arena, "bench-request-%06d", i),
                                          .hash = (const unsigned char[SHA256_LEN]){0},
                                          .pass = f->kind == PASSES};
    if (f->kind == PASSCODES)
        return grant_create(tx, &place, &(struct grant_input){.type = text("passcode"), .access_code = code}, &request,
                            &made, &replayed);
    return pass_create(
        tx, &place,
        &(struct pass_input){.access_code = code, .windows = windows(tx->arena), .timezone = text("Europe/Madrid")},
        &request, &made, &replayed);
}

static enum err fill(struct tx *tx, void *arg)
{
    const struct filling *f = arg;
    enum err e = ERR_NONE;
    for (int i = 0; i < f->count && !e; i++)
        e = add_one(tx, f, i);
    return e;
}

struct timing {
    enum err (*run)(struct tx *, void *);
    void *arg;
    double us;
};

static enum err timed(struct tx *tx, void *arg)
{
    struct timing *t = arg;
    const int64_t begun_us = clock_monotonic_us();
    const enum err e = t->run(tx, t->arg);
    t->us = (double)(clock_monotonic_us() - begun_us);
    return e;
}

/* The decision, without its commit. */
static double timed_us(struct building_fixture *fx, enum err (*run)(struct tx *, void *), void *arg)
{
    struct timing t = {run, arg, 0};
    assert_int_equal(fixture_run(fx, STORE_WRITE, timed, &t), ERR_NONE);
    return t.us;
}

static void decide_once(struct building_fixture *fx, struct side *s, int i, int count)
{
    char code[8];
    struct arrival arrival = {.to = str_z(s->number), .from = STR(VISITOR)};
    snprintf(code, sizeof code, "%04d", 5000 + i % count);
    struct entry entry = {.building = &s->building, .from = STR(VISITOR), .digits = str_z(code)};
    s->arrival_us[i] = timed_us(fx, arrive_run, &arrival);
    s->code_us[i] = timed_us(fx, code_run, &entry);
    assert_int_equal(arrival.decision.verdict, ACCESS_COLLECT);
    assert_int_equal(entry.decision.verdict, ACCESS_RELEASE);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, ascending);
    return times[count / 2];
}

static void measure(const char *engine, struct building_fixture *fx)
{
    const int count = sized(GRANTS, 20), repeats = sized(REPEATS, 5);
    static struct side sides[KINDS];
    sides[PASSES] = (struct side){.building = fx->building, .number = FIXTURE_NUMBER};
    sides[PASSCODES] =
        (struct side){.building = fixture_add_building(fx, "Annex", "+15550100002"), .number = "+15550100002"};
    for (enum kind k = PASSES; k < KINDS; k++)
        assert_int_equal(fixture_run(fx, STORE_WRITE, fill, &(struct filling){fx, &sides[k], k, count}), ERR_NONE);
    if (fx->fixture->config.engine == ENGINE_POSTGRESQL)
        fixture_sql(fx, "ANALYZE pass, access_grant");
    for (int i = 0; i < repeats; i++)
        for (enum kind k = PASSES; k < KINDS; k++)
            decide_once(fx, &sides[k], i, count);
    printf("%s %.1f %.1f %.1f %.1f\n", engine, median_of(sides[PASSES].arrival_us, repeats),
           median_of(sides[PASSCODES].arrival_us, repeats), median_of(sides[PASSES].code_us, repeats),
           median_of(sides[PASSCODES].code_us, repeats));
}

static void on_sqlite(void **state)
{
    measure("sqlite", *state);
}

static void on_postgresql(void **state)
{
    measure("postgresql", *state);
}

int main(void)
{
    const struct CMUnitTest sqlite[] = {cmocka_unit_test_setup_teardown(on_sqlite, fixture_open, fixture_close)};
    const struct CMUnitTest postgresql[] = {
        cmocka_unit_test_setup_teardown(on_postgresql, fixture_open_postgresql, fixture_close)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(sqlite, NULL, NULL) +
           cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
}
