#include "domain/recording.h"

#include "domain/feed.h"
#include "domain/owner.h"

const char *const recording_names[] = {
    [GREETING_WELCOME] = "welcome",       [GREETING_GRANTED] = "granted", [GREETING_DENIED] = "denied",
    [GREETING_FORWARDING] = "forwarding", [GREETING_MESSAGE] = "message", [GREETING_COUNT] = NULL};

enum err recording_put(struct tx *tx, const struct id *building, enum greeting which, struct str audio)
{
    struct id account;
    enum err e = building_owner(tx, building, &account);
    if (e)
        return e;
    if (!audio.n || audio.n > RECORDING_MAX)
        return tx_fail(tx, ERR_BAD_REQUEST, "a recording has 1 byte to 20 seconds");
    const struct id id = id_new(tx->now_us);
    e = db_exec(tx->db,
                SQL(recording_put, .building_id = building, .which = which, .id = &id, .created_at = tx->now_us,
                    .length = (int64_t)audio.n, .audio = audio),
                NULL);
    return e ? e : feed_settings(tx, building);
}

enum err recording_list(struct tx *tx, const struct id *building, struct recording ret[static GREETING_COUNT],
                        size_t *ret_count)
{
    struct id account;
    size_t count = 0;
    enum err e = building_owner(tx, building, &account);
    if (e)
        return e;
    CURSOR c;
    e = db_query(tx->db, SQL(recording_list, .building_id = building), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && count < GREETING_COUNT;) {
        const struct row_recording_list row = row_recording_list(&c, NULL);
        ret[count++] = (struct recording){
            .which = (enum greeting)row.which,
            .id = row.id,
            .created_at_us = row.created_at,
            .length = row.length,
        };
    }
    if (!e)
        *ret_count = count;
    return e;
}

enum err recording_find(struct tx *tx, const struct id *building, const struct id *recording, enum greeting *ret)
{
    struct recording list[GREETING_COUNT];
    size_t count = 0;
    enum err e = recording_list(tx, building, list, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (id_equal(&list[i].id, recording)) {
            *ret = list[i].which;
            return ERR_NONE;
        }
    return e ? e : ERR_NOT_FOUND;
}

enum err recording_remove(struct tx *tx, const struct id *building, enum greeting which)
{
    int64_t removed;
    enum err e = db_exec(tx->db, SQL(recording_remove, .building_id = building, .which = which), &removed);
    return e ? e : removed ? feed_settings(tx, building) : ERR_NOT_FOUND;
}

enum err recording_audio(struct tx *tx, const struct id *recording, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(recording_audio, .id = recording), &c);
    if (!e)
        *ret = row_recording_audio(&c, tx->arena).audio;
    return e;
}
