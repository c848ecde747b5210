#include "domain/access_guard.h"

#include "domain/mail.h"
#include "domain/row.h"

#define WINDOW_US      (GUARD_WINDOW_S * US_PER_S)
#define RESET_US       (GUARD_RESET_S * US_PER_S)
#define NOTED_AGAIN_US (3600 * US_PER_S) /* a known caller's release is recorded once an hour */
#define MAIL_WORTH_US  (86400 * US_PER_S)
#define DIGITS_MIN     2
#define DIGITS_MAX     15

/* ---- callers ---- */

/* Carriers send these in place of a withheld number: the words ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE
 * on a keypad. */
static bool is_withheld(struct str digits)
{
    static const char *const words[] = {"266696687", "7378742833", "2562533", "8656696", "86282452253"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(digits, str_z(words[i])))
            return true;
    return false;
}

struct str guard_caller(struct str from)
{
    const struct str digits = from.n && from.p[0] == '+' ? str_from(from, 1) : from;
    if (digits.n < DIGITS_MIN || digits.n > DIGITS_MAX || is_withheld(digits))
        return STR_NONE;
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return STR_NONE;
    return from;
}

struct guard guard_read(const struct cursor *c, struct str caller)
{
    struct guard g = {
        .caller = caller,
        .released_us = col_int(c, COL_DOOR_RELEASED_AT),
        .closed_until_us = col_int(c, COL_DOOR_CLOSED_UNTIL),
        .closings = col_int(c, COL_DOOR_CLOSINGS),
        .mailed_us = col_int(c, COL_DOOR_MAILED_AT),
    };
    for (int i = 0; i < GUARD_FAILURES - 1; i++)
        g.failed_us[i] = col_int(c, COL_DOOR_FAILED_1 + i);
    return g;
}

static bool is_known(const struct guard *g)
{
    return g->released_us != 0;
}

/* ---- counting ---- */

bool guard_closed(const struct guard *g, int64_t now_us)
{
    return now_us < g->closed_until_us;
}

static struct guard_closing guard_count(struct guard *g, int64_t now_us)
{
    struct guard_closing closing = {.known = is_known(g)};
    const size_t last = GUARD_FAILURES - 2;
    if (now_us - g->failed_us[0] >= RESET_US)
        g->closings = 0;
    if (g->failed_us[last] > now_us - WINDOW_US) {
        const int64_t closed_s = (int64_t)GUARD_CLOSED_S
                                 << (g->closings < GUARD_DOUBLINGS ? g->closings : GUARD_DOUBLINGS);
        g->closed_until_us = now_us + closed_s * US_PER_S;
        closing.minutes = closed_s / 60;
        closing.closings = ++g->closings;
    }
    memmove(g->failed_us + 1, g->failed_us, last * sizeof *g->failed_us);
    g->failed_us[0] = now_us;
    return closing;
}

struct guard_closing guard_next_closing(const struct guard *g, int64_t now_us)
{
    struct guard copy = *g;
    return guard_count(&copy, now_us);
}

static enum err write_state(struct tx *tx, const struct guard *g, const struct id *building)
{
    return db_exec(tx->db, SQL_ACCESS_GUARD_WRITE,
                   DB_ARGS(v_str(id_str(building)), v_int(is_known(g)), v_int(g->failed_us[0]), v_int(g->failed_us[1]),
                           v_int(g->failed_us[2]), v_int(g->failed_us[3]), v_int(g->closed_until_us),
                           v_int(g->closings), v_int(g->mailed_us)),
                   NULL);
}

/* ---- the mail to the owner ---- */

static struct str mail_text(struct tx *tx, const struct guard *g, struct str label, struct guard_closing closing)
{
    return arena_printf(tx->arena,
                        "Five wrong door codes were entered at %.*s within ten minutes.\n"
                        "The last call came from %s%.*s.\n"
                        "\n"
                        "For the next %lld minutes, callers %s cannot enter\n"
                        "a code. Their calls are forwarded to your phone. Other callers, timers and routines\n"
                        "work as before. Further wrong codes block these callers for longer. You receive this\n"
                        "mail at most once a day.\n"
                        "\n"
                        "If you know the number, your guest may have a wrong code. If you do not, delete the\n"
                        "codes that are not needed any more, and use codes with four digits.\n",
                        STR_ARG(label), g->caller.n ? "" : "a caller without a number", STR_ARG(g->caller),
                        (long long)closing.minutes,
                        closing.known ? "who have opened this door before" : "who have never opened this door");
}

static enum err tell_owner(struct tx *tx, const struct guard *g, const struct id *account, struct str label,
                           struct guard_closing closing)
{
    struct mail_intent mail = {
        .subject = STR("Someone is guessing door codes"),
        .text = mail_text(tx, g, label, closing),
        .created_us = tx->now_us,
        .give_up_us = tx->now_us + MAIL_WORTH_US,
    };
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL_ACCOUNT_GET, DB_ARGS(v_str(id_str(account))), &c);
        if (e)
            return e;
        mail.to = col_copy(&c, COL_ACCOUNT_GET_EMAIL, tx->arena);
    }
    return mail_queue(tx, &mail);
}

enum err guard_fail(struct tx *tx, struct guard *g, const struct id *account, const struct id *building,
                    struct str label, struct guard_closing *ret)
{
    const struct guard_closing closing = guard_count(g, tx->now_us);
    enum err e = ERR_NONE;
    if (closing.minutes && tx->now_us - g->mailed_us >= RESET_US) {
        g->mailed_us = tx->now_us;
        e = tell_owner(tx, g, account, label, closing);
    }
    if (!e)
        e = write_state(tx, g, building);
    if (!e)
        *ret = closing;
    return e;
}

/* ---- known callers ---- */

enum err guard_released(struct tx *tx, const struct guard *g, const struct id *building)
{
    if (!g->caller.n || tx->now_us - g->released_us < NOTED_AGAIN_US)
        return ERR_NONE;
    const struct val id = v_str(id_str(building));
    enum err e = db_exec(tx->db, SQL_ACCESS_CALLER_RELEASED, DB_ARGS(id, v_str(g->caller), v_int(tx->now_us)), NULL);
    if (e || is_known(g))
        return e;
    return db_exec(tx->db, SQL_ACCESS_CALLER_TRIM, DB_ARGS(id, v_int(GUARD_CALLERS_MAX)), NULL);
}

enum err guard_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL_ACCESS_GUARD_PURGE, DB_ARGS(v_int(before_us), v_int(limit)), ret_count);
}

enum err guard_purge_callers(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL_ACCESS_CALLER_PURGE, DB_ARGS(v_int(before_us), v_int(limit)), ret_count);
}
