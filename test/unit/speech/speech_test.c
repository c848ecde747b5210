/* Prepared speech: in the order of need, once each, within the bounds of the queue and of the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <poll.h>
#include <semaphore.h>

#include "speech/clips.h"
#include "speech/speech.h"

#define PATIENCE_MS 20000
#define CLIP_LENGTH 10000

static struct mailbox box;
static struct speech *speech;

/* Recordings: their names in the order in which they were fetched. */
static struct {
    sem_t go; /* one fetch */
    bool held, fails;
    char names[SPEECH_QUEUE_MAX + 8][24];
    int count;
} store;

static bool fetch(void *arg, struct str name, struct clip **ret)
{
    (void)arg;
    while (store.held && sem_wait(&store.go))
        ;
    (void)snprintf(store.names[store.count++], sizeof store.names[0], "%.*s", STR_ARG(name));
    if (store.fails)
        return false;
    *ret = clip_new(CLIP_LENGTH);
    return true;
}

static void start(size_t cache_bytes)
{
    const struct speech_options options = {.cache_bytes = cache_bytes, .box = &box, .fetch = fetch};
    assert_int_equal(mailbox_init(&box), ERR_NONE);
    assert_int_equal(speech_new(&speech, &options), ERR_NONE);
    sem_init(&store.go, 0, 0);
    store.held = store.fails = false;
    store.count = 0;
}

static int tear_down(void **state)
{
    (void)state;
    speech_free(speech);
    mailbox_done(&box);
    sem_destroy(&store.go);
    return 0;
}

static void drain(void)
{
    struct pollfd p = {.fd = box.fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
    mailbox_drain(&box);
}

static struct speech_source text(const char *words)
{
    return (struct speech_source){.name = str_z(words)};
}

static struct speech_source recording(const char *name)
{
    return (struct speech_source){.recording = true, .name = str_z(name)};
}

/* Waits until it is ready. The caller unrefs the clip. */
static struct clip *take(struct speech_source source)
{
    struct clip *clip = NULL;
    while (speech_take(speech, &source, &clip) == SPEECH_PENDING)
        drain();
    return clip;
}

static void test_a_text_is_rendered_once(void **state)
{
    (void)state;
    start(1 << 20);
    struct clip *first = take(text("Hello.")), *again = take(text("Hello."));
    assert_non_null(first);
    assert_ptr_equal(first, again);
    assert_int_equal(first->references, 3); /* one is the cache's */
    clip_unref(first);
    clip_unref(again);
}

static void test_a_text_without_words_is_ready_without_a_clip(void **state)
{
    (void)state;
    start(1 << 20);
    assert_null(take(text("...")));
    struct clip *clip = NULL;
    const struct speech_source again = text("...");
    assert_int_equal(speech_take(speech, &again, &clip), SPEECH_READY);
    assert_null(clip);
}

static void test_prompts_are_ready_made(void **state)
{
    (void)state;
    start(1 << 20);
    static const char *const texts[] = {
#define P(symbol, word, text) text,
#include "tbl/prompts.def"
#undef P
        "Please enter your code.",
        "Welcome. The door is open.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct rendered *r = clips;
        if (!texts[i])
            continue;
        while (r->text && strcmp(r->text, texts[i]) != 0)
            r++;
        assert_non_null(r->text);
        struct clip *clip = take(text(texts[i]));
        assert_in_range(clip->length, SOUND_RATE, 10 * SOUND_RATE);
        assert_int_equal(clip->length, r->length);
        assert_memory_equal(clip->ulaw, r->ulaw, r->length);
        clip_unref(clip);
    }
}

static void test_the_cache_keeps_the_newest_within_its_bound(void **state)
{
    (void)state;
    start(5 * CLIP_LENGTH);
    char name[8];
    for (int i = 0; i < 12; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        clip_unref(take(recording(name)));
        clip_unref(take(recording("0"))); /* in use all the time */
    }
    assert_int_equal(store.count, 12);
    for (int i = 9; i < 12; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        clip_unref(take(recording(name)));
    }
    clip_unref(take(recording("0")));
    assert_int_equal(store.count, 12);
    clip_unref(take(recording("8")));
    assert_int_equal(store.count, 13);
}

/* Asks for the recordings "0", "1" and so on, one more than the queue takes, while none is read. */
static void ask_for_too_many(void (*ask)(struct speech *s, const struct speech_source *source))
{
    char name[8];
    store.held = true;
    for (int i = 0; i < SPEECH_QUEUE_MAX + 1; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        const struct speech_source one = recording(name);
        ask(speech, &one);
    }
}

/* PHONE-46 */
static void test_saved_greetings_leave_places_for_calls(void **state)
{
    (void)state;
    start(16 << 20);
    char name[8];
    struct clip *clip = NULL;
    ask_for_too_many(speech_ask_ahead);
    const struct speech_source needed = recording("needed");
    assert_int_equal(speech_take(speech, &needed, &clip), SPEECH_PENDING);
    for (int i = 0; i < SPEECH_AHEAD_MAX + 1; i++)
        sem_post(&store.go);
    clip_unref(take(needed));
    for (int i = 0; i < SPEECH_AHEAD_MAX; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        clip_unref(take(recording(name)));
    }
    assert_int_equal(store.count, SPEECH_AHEAD_MAX + 1);
}

static void test_a_clip_outlives_its_place_in_the_cache(void **state)
{
    (void)state;
    start(2 * CLIP_LENGTH);
    struct clip *kept = take(recording("kept"));
    clip_unref(take(recording("another")));
    clip_unref(take(recording("a third")));
    assert_int_equal(kept->references, 1);
    assert_int_equal(kept->ulaw[CLIP_LENGTH - 1], 0);
    clip_unref(kept);
}

static void test_the_queue_is_bounded_and_the_needed_one_goes_first(void **state)
{
    (void)state;
    start(16 << 20);
    struct clip *clip = NULL;
    ask_for_too_many(speech_ask);
    const struct speech_source one_more = recording("one more"), last = recording("199");
    assert_int_equal(speech_take(speech, &one_more, &clip), SPEECH_REFUSED);
    assert_int_equal(speech_take(speech, &last, &clip), SPEECH_PENDING);
    for (int i = 0; i < SPEECH_QUEUE_MAX; i++)
        sem_post(&store.go);
    clip_unref(take(recording("199")));
    const bool first_was_begun = !strcmp(store.names[0], "0");
    assert_string_equal(store.names[first_was_begun ? 1 : 0], "199");
}

static void test_a_recording_that_could_not_be_read_is_tried_again(void **state)
{
    (void)state;
    start(1 << 20);
    store.fails = true;
    assert_null(take(recording("r")));
    store.fails = false;
    struct clip *clip = take(recording("r"));
    assert_non_null(clip);
    clip_unref(clip);
}

static void test_stops_while_texts_wait(void **state)
{
    (void)state;
    start(1 << 20);
    char words[32];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(words, sizeof words, "This is sentence number %d.", i);
        const struct speech_source one = text(words);
        speech_ask(speech, &one);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(test_##name, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_text_is_rendered_once),
        T(a_text_without_words_is_ready_without_a_clip),
        T(prompts_are_ready_made),
        T(the_cache_keeps_the_newest_within_its_bound),
        T(saved_greetings_leave_places_for_calls),
        T(a_clip_outlives_its_place_in_the_cache),
        T(the_queue_is_bounded_and_the_needed_one_goes_first),
        T(a_recording_that_could_not_be_read_is_tried_again),
        T(stops_while_texts_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
