#include "domain/call_message.h"

#include <stdio.h>

#include "domain/mail.h"
#include "domain/master.h"

static struct str message_text(struct tx *tx, const struct call_message *m, struct str label)
{
    char kept[40] = "";
    if (tx->config->retention_calls_days)
        snprintf(kept, sizeof kept, " for %lld days", (long long)tx->config->retention_calls_days);
    return arena_printf(tx->arena,
                        "A visitor at %.*s left a message of %lld seconds.\n"
                        "The call came from %s%.*s. Nobody had answered it.\n"
                        "\n"
                        "The message is attached. It is also kept%s:\n"
                        "GET /v1/calls/%s/message\n",
                        STR_ARG(label), (long long)m->seconds, m->caller.n ? "" : "a caller without a number",
                        STR_ARG(m->caller), kept, m->call_id.text);
}

/* For mail.sound = false: neither the sound nor the caller's number. */
static struct str message_link_text(struct tx *tx, const struct call_message *m, struct str label)
{
    return arena_printf(tx->arena,
                        "A visitor at %.*s left a message of %lld seconds.\n"
                        "\n"
                        "Listen to it: %s/activity?building=%s\n",
                        STR_ARG(label), (long long)m->seconds, tx->config->top_public_url, m->building_id.text);
}

static enum err tell_owner_of(struct tx *tx, const struct call_message *m)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(call_message_owner, .id = &m->building_id), &c);
    if (e)
        return e;
    const struct row_call_message_owner row = row_call_message_owner(&c, tx->arena);
    const bool sound = tx->config->mail_sound;
    const struct mail_intent mail = {
        .to = row.email,
        .subject = STR("A visitor left a message"),
        .text = sound ? message_text(tx, m, row.label) : message_link_text(tx, m, row.label),
        .message_of = sound ? m->call_id : (struct id){{0}},
        .building_id = m->building_id,
        .created_us = tx->now_us,
        .give_up_us = tx->now_us + MESSAGE_MAILED_US,
    };
    return mail_queue(tx, &mail);
}

enum err call_message_add(struct tx *tx, const struct call_message *m)
{
    struct str sealed;
    int64_t added;
    if (m->wav.n > MESSAGE_BYTES_MAX)
        return ERR_INTERNAL_ERROR;
    enum err e = master_seal(tx, MESSAGE_PURPOSE, m->wav, &sealed);
    if (!e)
        e = db_exec(tx->db,
                    SQL(call_message_insert, .call_id = &m->call_id, .building_id = &m->building_id,
                        .seconds = m->seconds, .audio = sealed),
                    &added);
    if (!e && added)
        e = db_exec(tx->db, SQL(visit_message, .building_id = &m->building_id, .id = &m->call_id), NULL);
    if (!e && added)
        e = tell_owner_of(tx, m);
    return e ? e : db_exec(tx->db, SQL(call_message_trim, .building_id = &m->building_id, .keep = MESSAGES_KEPT), NULL);
}

enum err call_message_get(struct tx *tx, const struct id *building, const struct id *call, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(call_message_get, .call_id = call, .building_id = building), &c);
    if (e)
        return e;
    const struct row_call_message_get row = row_call_message_get(&c, NULL);
    return crypto_open(MESSAGE_PURPOSE, row.audio, tx->arena, ret) ? ERR_NONE : ERR_SECRET_DECRYPT_FAILED;
}

enum err call_message_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    const struct id first = id_first(before_us);
    return db_exec(tx->db, SQL(call_message_purge, .before = &first, .limit = limit), ret_count);
}
