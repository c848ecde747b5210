#include "domain/owner_mail.h"

#include <time.h>

#include "domain/mail.h"
#include "domain/notice.h"
#include "domain/text.h"

#define WORTH_US      (86400 * US_PER_S) /* not sent after that */
#define TOLD_AGAIN_US (3600 * US_PER_S)  /* of an export; of minutes after WORTH_US */

enum owner_mail {
    OWNER_NUMBER_GIVEN,
    OWNER_NUMBER_CHANGED,
    OWNER_NUMBER_TAKEN,
    OWNER_NUMBER_ENDS,
    OWNER_NUMBER_ENDED,
    OWNER_NUMBER_NEW,
    OWNER_EXPORTED,
    OWNER_MINUTES,
    OWNER_INVITATION,
    OWNER_JOINED,
    OWNER_MAILS
};

static const struct {
    const char *subject, *text;
} mails[OWNER_MAILS][NOTICE_LANGUAGES] = {
#define OWNER_MAIL(symbol, language, subject, text) [OWNER_##symbol][NOTICE_##language] = {subject, text},
#include "tbl/owner_mails.def"
};

static enum err owner_mail_queue(struct tx *tx, enum owner_mail kind, struct str to, struct str language,
                                 const struct text_word *words, size_t count)
{
    const enum notice_language i = notice_language(language);
    const struct mail_intent mail = {
        .to = to,
        .subject = text_fill(tx->arena, mails[kind][i].subject, words, count),
        .text = text_fill(tx->arena, mails[kind][i].text, words, count),
        .language = language,
        .created_us = tx->now_us,
        .give_up_us = tx->now_us + WORTH_US,
    };
    return mail_queue(tx, &mail);
}

/* The sandbox may be without an address. */
static struct str place_name(const struct config *c)
{
    const struct str url = str_z(c->top_public_url);
    return url.n ? url : STR("Portero");
}

struct owner_place {
    struct str email, label, language;
};

static enum err owner_place(struct tx *tx, const struct id *building, struct owner_place *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(owner_mail_place, .id = building), &c);
    if (e)
        return e;
    const struct row_owner_mail_place row = row_owner_mail_place(&c, tx->arena);
    *ret = (struct owner_place){.email = row.email, .label = row.label, .language = row.language};
    return ERR_NONE;
}

static struct str utc_text(struct arena *a, int64_t at_us)
{
    const time_t at = (time_t)(at_us / US_PER_S);
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&at, &parts))
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
    return arena_str(a, str_z(text));
}

/* ends_us: when the former number goes. */
static enum err mail_number(struct tx *tx, enum owner_mail kind, const struct id *building, struct str number,
                            struct str former, int64_t ends_us)
{
    struct owner_place place;
    enum err e = owner_place(tx, building, &place);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct text_word words[] = {{STR("building"), place.label},
                                      {STR("number"), number},
                                      {STR("former"), former},
                                      {STR("time"), utc_text(tx->arena, ends_us)},
                                      {STR("url"), place_name(tx->config)}};
    return owner_mail_queue(tx, kind, place.email, place.language, words, sizeof words / sizeof *words);
}

enum err owner_mail_number(struct tx *tx, const struct id *building, struct str number, struct str former)
{
    const enum owner_mail kind = !former.p ? OWNER_NUMBER_GIVEN : number.p ? OWNER_NUMBER_CHANGED : OWNER_NUMBER_TAKEN;
    return mail_number(tx, kind, building, number, former, tx->now_us);
}

enum err owner_mail_number_ended(struct tx *tx, const struct id *building, struct str former)
{
    return mail_number(tx, OWNER_NUMBER_ENDED, building, STR_NONE, former, tx->now_us);
}

enum err owner_mail_number_ends(struct tx *tx, const struct id *building, struct str former, int64_t ends_us)
{
    return mail_number(tx, OWNER_NUMBER_ENDS, building, STR_NONE, former, ends_us);
}

enum err owner_mail_number_new(struct tx *tx, const struct id *building, struct str number)
{
    return mail_number(tx, OWNER_NUMBER_NEW, building, number, STR_NONE, tx->now_us);
}

enum err owner_mail_minutes(struct tx *tx, const struct id *account, const struct id *building)
{
    struct owner_place place;
    int64_t due;
    enum err e = db_exec(tx->db,
                         SQL(call_record_minutes_mailed, .id = account, .minutes_mailed_at = tx->now_us,
                             .mailed_before = tx->now_us - WORTH_US),
                         &due);
    if (e || !due)
        return e;
    e = owner_place(tx, building, &place);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct text_word words[] = {
        {STR("building"), place.label},
        {STR("minutes"), arena_printf(tx->arena, "%lld", (long long)tx->config->voice_account_minutes_per_day)},
        {STR("url"), place_name(tx->config)}};
    return owner_mail_queue(tx, OWNER_MINUTES, place.email, place.language, words, sizeof words / sizeof *words);
}

/* The label is what anybody may have written, and the reader did not ask for the mail: nothing in it may become a link.
 */
static struct str label_without_links(struct arena *a, struct str label)
{
    struct str copy = arena_str(a, label);
    for (size_t i = 0; i < copy.n; i++) {
        const bool inside = i + 1 < copy.n && copy.p[i + 1] != ' ';
        if (strchr("/:@<>\\", copy.p[i]) || (copy.p[i] == '.' && inside))
            ((char *)copy.p)[i] = ' ';
    }
    return copy;
}

enum err owner_mail_invitation(struct tx *tx, const struct id *building, struct str to, struct str language)
{
    struct owner_place place;
    enum err e = owner_place(tx, building, &place);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct text_word words[] = {{STR("building"), label_without_links(tx->arena, place.label)},
                                      {STR("owner"), place.email},
                                      {STR("url"), place_name(tx->config)}};
    return owner_mail_queue(tx, OWNER_INVITATION, to, language, words, sizeof words / sizeof *words);
}

enum err owner_mail_joined(struct tx *tx, const struct id *building, struct str name, struct str email)
{
    struct owner_place place;
    enum err e = owner_place(tx, building, &place);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct text_word words[] = {{STR("building"), place.label},
                                      {STR("person"), name},
                                      {STR("email"), email},
                                      {STR("url"), place_name(tx->config)}};
    return owner_mail_queue(tx, OWNER_JOINED, place.email, place.language, words, sizeof words / sizeof *words);
}

static struct str browser_text(struct arena *a, struct browser_names b)
{
    if (b.program && b.system)
        return arena_printf(a, "%s, %s", b.program, b.system);
    return b.program ? str_z(b.program) : b.system ? str_z(b.system) : STR("?");
}

enum err owner_mail_export(struct tx *tx, const struct id *account, struct browser_names browser, struct str language)
{
    struct str to;
    int64_t due;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(account_get, .id = account), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
        const struct row_account_get row = row_account_get(&c, tx->arena);
        to = row.email;
    }
    enum err e = db_exec(
        tx->db,
        SQL(account_exported, .id = account, .exported_at = tx->now_us, .exported_before = tx->now_us - TOLD_AGAIN_US),
        &due);
    if (e || !due)
        return e;
    const struct text_word words[] = {{STR("browser"), browser_text(tx->arena, browser)},
                                      {STR("time"), utc_text(tx->arena, tx->now_us)},
                                      {STR("url"), place_name(tx->config)}};
    return owner_mail_queue(tx, OWNER_EXPORTED, to, language, words, sizeof words / sizeof *words);
}
