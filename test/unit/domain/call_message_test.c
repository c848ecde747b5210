#include "tx_fixture.h"

#include "domain/call_message.h"
#include "domain/mail.h"

static struct call_message message_of(const struct principal *who, int64_t at_us)
{
    return (struct call_message){.call_id = id_first(at_us), /* id_new() never descends */
                                 .building_id = who->primary_id,
                                 .caller = STR("+15550001111"),
                                 .wav = STR("RIFF…"),
                                 .seconds = 7};
}

/* CALL-40 */
static void test_a_message_is_sealed_and_can_be_read_by_its_building_alone(struct tx *tx)
{
    struct principal who = owner(tx);
    const struct call_message m = message_of(&who, tx->now_us);
    const struct id other = id_new(0);
    struct str wav;
    assert_none(call_message_add(tx, &m));
    assert_none(call_message_get(tx, &who.primary_id, &m.call_id, &wav));
    assert_str(wav, "RIFF…");
    assert_error(call_message_get(tx, &other, &m.call_id, &wav), ERR_NOT_FOUND);
    CURSOR c;
    assert_none(db_one(tx->db, SQL(call_message_get, .call_id = &m.call_id, .building_id = &who.primary_id), &c));
    const struct str stored = row_call_message_get(&c, NULL).audio;
    assert_null(memmem(stored.p, stored.n, "RIFF", 4));
}

static void test_a_second_message_of_a_call_is_dropped_and_not_mailed(struct tx *tx)
{
    struct principal who = owner(tx);
    const struct call_message m = message_of(&who, tx->now_us);
    assert_none(call_message_add(tx, &m));
    assert_none(call_message_add(tx, &m));
    struct str payload;
    struct mail_intent mail;
    assert_int_equal(take_jobs(tx, JOB_MAIL, &payload), 1);
    assert_none(mail_read(payload, tx->arena, &mail));
    assert_string_equal(mail.message_of.text, m.call_id.text);
    assert_string_equal(mail.building_id.text, who.primary_id.text);
}

/* CALL-40 */
static void test_a_building_keeps_its_newest_messages(struct tx *tx)
{
    struct principal who = owner(tx);
    struct call_message first = {0}, second = {0};
    struct str wav;
    for (int i = 0; i <= MESSAGES_KEPT; i++) {
        const struct call_message m = message_of(&who, tx->now_us + i * US_PER_S);
        if (i <= 1)
            *(i ? &second : &first) = m;
        assert_none(call_message_add(tx, &m));
    }
    assert_none(call_message_get(tx, &who.primary_id, &second.call_id, &wav));
    assert_error(call_message_get(tx, &who.primary_id, &first.call_id, &wav), ERR_NOT_FOUND);
}

static void test_a_message_of_a_deleted_building_is_not_kept(struct tx *tx)
{
    struct principal who = owner(tx);
    struct call_message m = message_of(&who, tx->now_us);
    m.building_id = id_new(0);
    assert_error(call_message_add(tx, &m), ERR_NOT_FOUND);
}

/* CALL-40 */
static void test_old_messages_are_purged(struct tx *tx)
{
    struct principal who = owner(tx);
    int64_t purged;
    const struct call_message old = message_of(&who, tx->now_us - 100 * US_PER_S);
    const struct call_message fresh = message_of(&who, tx->now_us);
    assert_none(call_message_add(tx, &old));
    assert_none(call_message_add(tx, &fresh));
    assert_none(call_message_purge(tx, tx->now_us - 50 * US_PER_S, 10, &purged));
    assert_int_equal(purged, 1);
}

#define TESTS(x)                                                                                                       \
    x(test_a_message_is_sealed_and_can_be_read_by_its_building_alone)                                                  \
        x(test_a_second_message_of_a_call_is_dropped_and_not_mailed) x(test_a_building_keeps_its_newest_messages)      \
            x(test_a_message_of_a_deleted_building_is_not_kept) x(test_old_messages_are_purged)
TX_RUN(TESTS)
