/* Recorded greetings: one for each greeting, known to decisions at the door, replaced under another ID. */
#include "domain/access.h"
#include "domain/building_fixture.h"
#include "domain/recording.h"
#include "domain/removal.h"

struct put {
    const struct id *building;
    enum greeting which;
    struct str audio;
};

static enum err put_run(struct tx *tx, void *arg)
{
    const struct put *p = arg;
    return recording_put(tx, p->building, p->which, p->audio);
}

static enum err put(struct building_fixture *fx, enum greeting which, const char *audio, size_t n)
{
    struct put p = {&fx->building, which, str_n(audio, n)};
    return fixture_run(fx, STORE_WRITE, put_run, &p);
}

static enum err arrive_run(struct tx *tx, void *arg)
{
    return access_arrive(tx, STR(FIXTURE_NUMBER), STR(VISITOR), AUDIO_TAKEN, arg);
}

static struct access_decision arrive(struct building_fixture *fx)
{
    struct access_decision d = {.verdict = ACCESS_REJECT};
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &d), ERR_NONE);
    return d;
}

struct audio_of {
    struct id id;
    struct str audio;
};

static enum err audio_run(struct tx *tx, void *arg)
{
    struct audio_of *a = arg;
    return recording_audio(tx, &a->id, &a->audio);
}

static void expect_audio(struct building_fixture *fx, const struct id *id, const char *audio, size_t n)
{
    struct audio_of a = {.id = *id};
    assert_int_equal(fixture_run(fx, STORE_READ, audio_run, &a), ERR_NONE);
    assert_int_equal(a.audio.n, n);
    assert_memory_equal(a.audio.p, audio, n);
}

static void test_a_decision_names_the_recordings(void **state)
{
    struct building_fixture *fx = *state;
    struct access_decision d = arrive(fx);
    for (int i = 0; i < GREETING_COUNT; i++)
        assert_false(id_given(&d.recordings[i]));
    assert_int_equal(put(fx, GREETING_DENIED, "\x00\xff\x7f no", 6), ERR_NONE);
    d = arrive(fx);
    assert_false(id_given(&d.recordings[GREETING_WELCOME]));
    assert_true(id_given(&d.recordings[GREETING_DENIED]));
    expect_audio(fx, &d.recordings[GREETING_DENIED], "\x00\xff\x7f no", 6);
}

/* PHONE-47 */
static void test_another_recording_has_another_id(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(put(fx, GREETING_WELCOME, "first", 5), ERR_NONE);
    const struct id first = arrive(fx).recordings[GREETING_WELCOME];
    assert_int_equal(put(fx, GREETING_WELCOME, "second", 6), ERR_NONE);
    const struct id second = arrive(fx).recordings[GREETING_WELCOME];
    assert_string_not_equal(first.text, second.text);
    expect_audio(fx, &second, "second", 6);
    struct audio_of old = {.id = first};
    assert_int_equal(fixture_run(fx, STORE_READ, audio_run, &old), ERR_NOT_FOUND);
}

struct listed {
    const struct id *building;
    struct recording list[GREETING_COUNT];
    size_t count;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct listed *l = arg;
    return recording_list(tx, l->building, l->list, &l->count);
}

struct found {
    const struct id *building;
    struct id recording;
    enum greeting which;
};

static enum err find_run(struct tx *tx, void *arg)
{
    struct found *f = arg;
    return recording_find(tx, f->building, &f->recording, &f->which);
}

static enum err remove_one_run(struct tx *tx, void *arg)
{
    return recording_remove(tx, arg, GREETING_GRANTED);
}

static void test_recordings_are_listed_until_they_are_removed(void **state)
{
    struct building_fixture *fx = *state;
    struct listed l = {.building = &fx->building};
    assert_int_equal(put(fx, GREETING_FORWARDING, "ring", 4), ERR_NONE);
    assert_int_equal(put(fx, GREETING_GRANTED, "in", 2), ERR_NONE);
    assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_NONE);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.list[0].which, GREETING_GRANTED);
    assert_int_equal(l.list[1].length, 4);
    struct found f = {.building = &fx->building, .recording = l.list[1].id};
    assert_int_equal(fixture_run(fx, STORE_READ, find_run, &f), ERR_NONE);
    assert_int_equal(f.which, GREETING_FORWARDING);
    assert_int_equal(fixture_run(fx, STORE_WRITE, remove_one_run, &fx->building), ERR_NONE);
    assert_int_equal(fixture_run(fx, STORE_WRITE, remove_one_run, &fx->building), ERR_NOT_FOUND);
    assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_NONE);
    assert_int_equal(l.count, 1);
    f.recording = fx->building;
    assert_int_equal(fixture_run(fx, STORE_READ, find_run, &f), ERR_NOT_FOUND);
}

/* PHONE-47 */
static void test_a_recording_is_bounded(void **state)
{
    struct building_fixture *fx = *state;
    char *long_one = calloc(1, RECORDING_MAX + 1);
    assert_int_equal(put(fx, GREETING_WELCOME, long_one, RECORDING_MAX), ERR_NONE);
    assert_int_equal(put(fx, GREETING_WELCOME, long_one, RECORDING_MAX + 1), ERR_BAD_REQUEST);
    assert_int_equal(put(fx, GREETING_WELCOME, "", 0), ERR_BAD_REQUEST);
    free(long_one);
}

static void test_an_unknown_building_has_no_recordings(void **state)
{
    struct building_fixture *fx = *state;
    struct id other = {.text = "ffffffffffffffffffffffff"};
    struct put p = {&other, GREETING_WELCOME, STR("audio")};
    struct listed l = {.building = &other};
    assert_int_equal(fixture_run(fx, STORE_WRITE, put_run, &p), ERR_BUILDING_NOT_FOUND);
    assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_BUILDING_NOT_FOUND);
}

static enum err remove_building_run(struct tx *tx, void *arg)
{
    struct building_fixture *fx = arg;
    return removal_finish(tx, &fx->account, &fx->building);
}

static void test_a_removed_building_leaves_no_recordings(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(put(fx, GREETING_WELCOME, "audio", 5), ERR_NONE);
    assert_int_equal(fixture_run(fx, STORE_WRITE, remove_building_run, fx), ERR_NONE);
    fixture_expect(fx, "SELECT which FROM recording", "");
}

#define TESTS(T)                                                                                                       \
    T(test_a_decision_names_the_recordings), T(test_another_recording_has_another_id),                                 \
        T(test_recordings_are_listed_until_they_are_removed), T(test_a_recording_is_bounded),                          \
        T(test_an_unknown_building_has_no_recordings), T(test_a_removed_building_leaves_no_recordings)

FIXTURE_RUN_BOTH(TESTS)
