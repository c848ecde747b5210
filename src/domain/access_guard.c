#include "domain/access_guard.h"

#include "base/buf.h"
#include "domain/mail.h"

#define WINDOW_US      (GUARD_WINDOW_S * US_PER_S)
#define RESET_US       (GUARD_RESET_S * US_PER_S)
#define NOTED_AGAIN_US (3600 * US_PER_S) /* a known caller's release is recorded once an hour */
#define DAY_TEXT_MAX   (GUARD_DAY_MAX * 21)
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

/* Reads the column failed_day. */
static void read_day(struct str text, struct guard *g)
{
    while (text.n && g->day_count < GUARD_DAY_MAX) {
        uint64_t at_s;
        struct str word = str_cut(text, ' ', &text);
        const bool spoken = word.n && word.p[word.n - 1] == 's';
        word.n -= spoken;
        if (str_to_u64(word, INT64_MAX / US_PER_S, &at_s))
            g->day[g->day_count++] = (struct guard_failure){(int64_t)at_s, spoken};
    }
}

static struct str day_text(const struct guard *g, struct arena *a)
{
    struct buf b = BUF(DAY_TEXT_MAX);
    for (size_t i = 0; i < g->day_count; i++)
        buf_printf(&b, "%s%lld%s", i ? " " : "", (long long)g->day[i].at_s, g->day[i].spoken ? "s" : "");
    const struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

struct guard guard_read(const struct row_door *r, struct str caller)
{
    struct guard g = {
        .caller = caller,
        .released_us = r->released_at,
        .closed_until_us = r->closed_until,
        .closings = r->closings,
        .failed_us = {r->failed_1, r->failed_2, r->failed_3, r->failed_4},
        .mailed_us = r->mailed_at,
    };
    read_day(r->failed_day, &g);
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

/* The wrong codes within a day. Seconds are compared, so that one counts for up to a second longer. */
static size_t count_day(const struct guard *g, bool spoken_only, int64_t now_us)
{
    size_t n = 0;
    for (size_t i = 0; i < g->day_count; i++)
        n += g->day[i].at_s >= now_us / US_PER_S - GUARD_DAY_S && (g->day[i].spoken || !spoken_only);
    return n;
}

bool guard_speech_closed(const struct guard *g, int64_t now_us)
{
    return count_day(g, true, now_us) >= GUARD_DAY_SPOKEN;
}

static void add_to_day(struct guard *g, bool spoken, int64_t now_us)
{
    size_t kept = count_day(g, false, now_us);
    kept = kept < GUARD_DAY_MAX ? kept : GUARD_DAY_MAX - 1;
    memmove(g->day + 1, g->day, kept * sizeof *g->day);
    g->day[0] = (struct guard_failure){now_us / US_PER_S, spoken};
    g->day_count = kept + 1;
}

static struct guard_closing guard_count(struct guard *g, bool spoken, int64_t now_us)
{
    const size_t last = GUARD_FAILURES - 2;
    add_to_day(g, spoken, now_us);
    struct guard_closing closing = {
        .known = is_known(g), .speech = guard_speech_closed(g, now_us), .day_count = g->day_count};
    if (now_us - g->failed_us[0] >= RESET_US)
        g->closings = 0;
    const bool slow = g->day_count >= GUARD_DAY_CLOSED;
    if (slow || g->failed_us[last] > now_us - WINDOW_US) {
        if (slow && g->closings < GUARD_DAY_FROM)
            g->closings = GUARD_DAY_FROM;
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

struct guard_closing guard_next_closing(const struct guard *g, bool spoken, int64_t now_us)
{
    struct guard copy = *g;
    return guard_count(&copy, spoken, now_us);
}

static enum err write_state(struct tx *tx, const struct guard *g, const struct id *building)
{
    return db_exec(tx->db,
                   SQL(access_guard_write, .building_id = building, .known = is_known(g), .failed_1 = g->failed_us[0],
                       .failed_2 = g->failed_us[1], .failed_3 = g->failed_us[2], .failed_4 = g->failed_us[3],
                       .closed_until = g->closed_until_us, .closings = g->closings, .mailed_at = g->mailed_us,
                       .failed_day = day_text(g, tx->arena)),
                   NULL);
}

/* ---- the mail to the owner ---- */

static struct str mail_text(struct tx *tx, const struct guard *g, struct str label, struct guard_closing closing)
{
    const char *who = closing.known ? "who have opened this door before" : "who have never opened this door";
    const struct str effect =
        closing.minutes
            ? arena_printf(tx->arena,
                           "For the next %lld minutes, callers %s cannot enter\n"
                           "a code. Their calls are forwarded to your phone. Other callers, timers and routines\n"
                           "work as before. Further wrong codes block these callers for longer.",
                           (long long)closing.minutes, who)
            : arena_printf(tx->arena,
                           "At %d within 24 hours, callers %s can no longer\n"
                           "enter a code: their calls are then forwarded to your phone.",
                           GUARD_DAY_CLOSED, who);
    return arena_printf(tx->arena,
                        "%zu wrong door codes were entered at %.*s within 24 hours.\n"
                        "The last call came from %s%.*s.\n"
                        "\n"
                        "%.*s You receive this mail at most once a day.\n"
                        "\n"
                        "If you know the number, your guest may have a wrong code. If you do not, delete the\n"
                        "codes that are not needed any more, and use codes with four digits.\n",
                        closing.day_count, STR_ARG(label), g->caller.n ? "" : "a caller without a number",
                        STR_ARG(g->caller), STR_ARG(effect));
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
        enum err e = db_one(tx->db, SQL(account_get, .id = account), &c);
        if (e)
            return e;
        const struct row_account_get row = row_account_get(&c, tx->arena);
        mail.to = row.email;
    }
    return mail_queue(tx, &mail);
}

enum err guard_fail(struct tx *tx, struct guard *g, bool spoken, const struct id *account, const struct id *building,
                    struct str label, struct guard_closing *ret)
{
    const struct guard_closing closing = guard_count(g, spoken, tx->now_us);
    enum err e = ERR_NONE;
    if ((closing.minutes || closing.day_count >= GUARD_DAY_TOLD) && tx->now_us - g->mailed_us >= RESET_US) {
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
    enum err e = db_exec(
        tx->db, SQL(access_caller_released, .building_id = building, .number = g->caller, .released_at = tx->now_us),
        NULL);
    if (e || is_known(g))
        return e;
    return db_exec(tx->db, SQL(access_caller_trim, .building_id = building, .keep = GUARD_CALLERS_MAX), NULL);
}

enum err guard_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(access_guard_purge, .before = before_us, .limit = limit), ret_count);
}

enum err guard_purge_callers(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(access_caller_purge, .before = before_us, .limit = limit), ret_count);
}
