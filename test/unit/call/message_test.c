/* The rule that tells a message from noise and silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "call/message.h"

#define FRAMES(ms) ((ms) / 20)

static struct message_sound sound;

static void hear(int16_t level, int frames)
{
    int16_t samples[MESSAGE_FRAME];
    for (size_t i = 0; i < MESSAGE_FRAME; i++)
        samples[i] = i % 2 ? level : (int16_t)-level;
    for (int i = 0; i < frames; i++)
        assert_int_equal(message_hear(&sound, samples, MESSAGE_FRAME), level > 200);
}

static void begin(void)
{
    sound = (struct message_sound){.n = 0};
}

/* CALL-39 */
static void test_less_than_half_a_second_of_sound_is_no_message(void **state)
{
    (void)state;
    begin();
    assert_int_equal(message_length(&sound), 0);
    hear(0, FRAMES(5000));
    hear(200, FRAMES(5000));
    hear(1000, FRAMES(480));
    assert_int_equal(message_length(&sound), 0);
    hear(0, FRAMES(1000));
    hear(1000, FRAMES(20));
    assert_int_not_equal(message_length(&sound), 0);
}

static void test_the_silence_at_the_end_is_not_kept(void **state)
{
    (void)state;
    begin();
    hear(0, FRAMES(1000));
    hear(1000, FRAMES(1000));
    assert_int_equal(message_length(&sound), 2 * 8000);
    hear(0, FRAMES(5000));
    assert_int_equal(message_length(&sound), 2 * 8000 + 2400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_less_than_half_a_second_of_sound_is_no_message),
        cmocka_unit_test(test_the_silence_at_the_end_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
