#include "domain/master.h"

#include "domain/box.h"
#include "domain/call_message.h"
#include "domain/guest_link.h"
#include "domain/job.h"
#include "domain/mail.h"
#include "domain/push.h"
#include "domain/webhook.h"
#include "domain/work.h"

#define SEALING   STR("master_key")          /* the check value of the key that seals */
#define REPLACING STR("master_key_previous") /* of the key that is being replaced */
#define OTHER_KEY "the store's secrets are sealed with another master key: configure that key"
#define BATCH     100 /* rows in a transaction, so that other writers wait only shortly */

/* ---- check values ---- */

/* STR_NONE if the store has none. */
static enum err read_check(struct tx *tx, struct str name, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(setting_get, .name = name), &c);
    *ret = e ? STR_NONE : row_setting_get(&c, tx->arena).value;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static bool is_check_of(enum master_key which, struct str check)
{
    char mine[MASTER_CHECK_LEN + 1];
    return crypto_master_check(which, mine) && str_eq(check, str_z(mine));
}

/* The newest secret, for a store that was created before check values were kept. */
static enum err read_sample(struct tx *tx, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(sealed_webhook_newest), &c);
    *ret = e ? STR_NONE : row_sealed_webhook_newest(&c, tx->arena).secret;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

enum err master_is_needed(struct tx *tx, bool *ret)
{
    struct str check, sample = STR_NONE;
    enum err e = read_check(tx, SEALING, &check);
    if (!e && !check.p)
        e = read_sample(tx, &sample);
    if (!e)
        *ret = check.p || sample.p;
    return e;
}

/* ---- at start ---- */

/* Records the store's first key: the one that opens its secrets. */
static enum err claim_first(struct tx *tx, struct str *ret)
{
    char check[MASTER_CHECK_LEN + 1];
    struct str sample, plain;
    enum master_key which = MASTER_CURRENT;
    enum err e = read_sample(tx, &sample);
    if (e)
        return e;
    if (sample.p && !crypto_open_with(MASTER_CURRENT, WEBHOOK_PURPOSE, sample, tx->arena, &plain)) {
        which = MASTER_PREVIOUS;
        if (!crypto_open_with(MASTER_PREVIOUS, WEBHOOK_PURPOSE, sample, tx->arena, &plain))
            return tx_fail(tx, ERR_USAGE, OTHER_KEY);
    }
    (void)crypto_master_check(which, check);
    e = db_exec(tx->db, SQL(setting_claim, .name = SEALING, .value = str_z(check)), NULL);
    return e ? e : read_check(tx, SEALING, ret);
}

enum err master_claim(struct tx *tx, bool *ret_rekey)
{
    struct str sealing, replacing;
    enum err e = read_check(tx, REPLACING, &replacing);
    if (!e)
        e = read_check(tx, SEALING, &sealing);
    if (!e && !sealing.p)
        e = claim_first(tx, &sealing);
    if (e)
        return e;
    if (!is_check_of(MASTER_CURRENT, sealing) && !is_check_of(MASTER_PREVIOUS, sealing))
        return tx_fail(tx, ERR_USAGE, OTHER_KEY);
    if (replacing.p && !is_check_of(MASTER_PREVIOUS, replacing) && !is_check_of(MASTER_CURRENT, replacing))
        return tx_fail(tx, ERR_USAGE,
                       "the master key is being replaced: secrets.previous_master_key must be the previous one "
                       "until porterod rekey has ended");
    *ret_rekey = replacing.p || !is_check_of(MASTER_CURRENT, sealing);
    return ERR_NONE;
}

enum err master_fits(struct tx *tx, bool *ret)
{
    struct str sealing;
    enum err e = read_check(tx, SEALING, &sealing);
    if (!e)
        *ret = !sealing.p || is_check_of(MASTER_CURRENT, sealing) || is_check_of(MASTER_PREVIOUS, sealing);
    return e;
}

/* ---- sealing ---- */

enum err master_seal(struct tx *tx, const char *purpose, struct str plain, struct str *ret)
{
    struct str sealing;
    enum err e = read_check(tx, SEALING, &sealing);
    if (e)
        return e;
    const enum master_key which = is_check_of(MASTER_PREVIOUS, sealing) ? MASTER_PREVIOUS : MASTER_CURRENT;
    *ret = crypto_seal(which, purpose, plain, tx->arena);
    return ERR_NONE;
}

/* ---- from one key to another ---- */

/* The kinds of sealed rows, with the statements that list them by ID and replace one. */
static const struct kind {
    const char *purpose;
    enum sql list, replace;
} kinds[] = {
    {WEBHOOK_PURPOSE, SQL_SEALED_WEBHOOKS, SQL_SEALED_WEBHOOK_REPLACE},
    {WEBHOOK_PURPOSE, SQL_SEALED_WEBHOOKS_PREVIOUS, SQL_SEALED_WEBHOOK_PREVIOUS_REPLACE},
    {WEBHOOK_PURPOSE, SQL_SEALED_BUILDING_WEBHOOKS, SQL_SEALED_BUILDING_WEBHOOK_REPLACE},
    {BOX_PURPOSE, SQL_SEALED_BOXES, SQL_SEALED_BOX_REPLACE},
    {MESSAGE_PURPOSE, SQL_SEALED_MESSAGES, SQL_SEALED_MESSAGE_REPLACE},
    {PUSH_PURPOSE, SQL_SEALED_PUSH_KEYS, SQL_SEALED_PUSH_KEY_REPLACE},
    {GUEST_LINK_PURPOSE, SQL_SEALED_GUEST_LINKS, SQL_SEALED_GUEST_LINK_REPLACE},
    {MAIL_PURPOSE, SQL_SEALED_MAILS, SQL_SEALED_MAIL_REPLACE},
};

/* A pass over the rows of a kind. */
struct pass {
    const struct kind *kind;
    struct str after;           /* the ID of the last batch's last row */
    struct str reached;         /* the ID of this batch's last row, in the batch's arena */
    size_t count;               /* of rows in this batch */
    struct master_rekeyed seen; /* of this batch */
    struct master_rekeyed total;
};

static enum err master_begin_rekey(struct tx *tx, void *unused)
{
    (void)unused;
    char current[MASTER_CHECK_LEN + 1];
    struct str sealing;
    enum err e = read_check(tx, SEALING, &sealing);
    if (e || is_check_of(MASTER_CURRENT, sealing))
        return e;
    if (!is_check_of(MASTER_PREVIOUS, sealing))
        return tx_fail(tx, ERR_SECRET_DECRYPT_FAILED, OTHER_KEY);
    (void)crypto_master_check(MASTER_CURRENT, current);
    e = db_exec(tx->db, SQL(setting_put, .name = REPLACING, .value = sealing), NULL);
    return e ? e : db_exec(tx->db, SQL(setting_put, .name = SEALING, .value = str_z(current)), NULL);
}

static enum err master_end_rekey(struct tx *tx, void *unused)
{
    (void)unused;
    return db_exec(tx->db, SQL(setting_delete, .name = REPLACING), NULL);
}

static enum err list_rows(struct tx *tx, const struct pass *p, struct row_sealed_mails *rows, size_t *ret_count)
{
    CURSOR c;
    bool more;
    size_t n = 0;
    enum err e = db_query(tx->db, SQL_AS(p->kind->list, sealed_mails, .after = p->after, .limit = BATCH), &c);
    while (!e && !(e = db_next(&c, &more)) && more && n < BATCH)
        rows[n++] = row_sealed_mails(&c, tx->arena);
    *ret_count = n;
    return e;
}

static enum err seal_again(struct tx *tx, struct pass *p, const struct row_sealed_mails *row)
{
    struct str plain;
    if (crypto_open_with(MASTER_CURRENT, p->kind->purpose, row->sealed, tx->arena, &plain))
        return ERR_NONE;
    if (!crypto_open_with(MASTER_PREVIOUS, p->kind->purpose, row->sealed, tx->arena, &plain)) {
        p->seen.unreadable++;
        return ERR_NONE;
    }
    const struct str sealed = crypto_seal(MASTER_CURRENT, p->kind->purpose, plain, tx->arena);
    crypto_wipe((char *)plain.p, plain.n);
    p->seen.sealed++;
    return db_exec(tx->db, SQL_AS(p->kind->replace, sealed_mail_replace, .id = row->id, .sealed = sealed), NULL);
}

static enum err seal_batch(struct tx *tx, void *arg)
{
    struct pass *p = arg;
    struct row_sealed_mails rows[BATCH];
    p->seen = (struct master_rekeyed){0};
    enum err e = list_rows(tx, p, rows, &p->count);
    for (size_t i = 0; !e && i < p->count; i++)
        e = seal_again(tx, p, &rows[i]);
    p->reached = p->count ? rows[p->count - 1].id : STR_NONE;
    return e;
}

static enum err seal_all(const struct work *work, struct pass *p)
{
    p->after = STR("");
    do {
        struct arena arena;
        struct work batch = {.store = work->store, .config = work->config, .arena = &arena};
        arena_init(&arena, NULL, 0);
        enum err e = work_write(&batch, seal_batch, p);
        if (!e && p->count)
            p->after = arena_str(work->arena, p->reached);
        arena_done(&arena);
        if (e)
            return e;
        p->total.sealed += p->seen.sealed;
        p->total.unreadable += p->seen.unreadable;
    } while (p->count == BATCH);
    return ERR_NONE;
}

enum err master_rekey(struct work *work, struct master_rekeyed *ret)
{
    struct pass pass = {0};
    enum err e = work_write(work, master_begin_rekey, NULL);
    for (size_t i = 0; !e && i < sizeof kinds / sizeof *kinds; i++) {
        pass.kind = &kinds[i];
        e = seal_all(work, &pass);
    }
    if (!e)
        e = work_write(work, master_end_rekey, NULL);
    if (!e)
        *ret = pass.total;
    return e;
}
