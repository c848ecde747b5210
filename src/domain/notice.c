#include "domain/notice.h"

#include "domain/text.h"

const struct notice_kind notice_kinds[NOTICE_COUNT] = {
#define NOTICE(symbol, name, ttl_s, urgency, tag) {name, ttl_s, urgency, tag},
#include "tbl/notices.def"
};

const char *const notice_names[] = {
#define NOTICE(symbol, name, ttl_s, urgency, tag) [NOTICE_##symbol] = NOTICE_##symbol == NOTICE_TEST ? NULL : (name),
#include "tbl/notices.def"
};

const char *const notice_mail_names[] = {
#define NOTICE(symbol, name, ttl_s, urgency, tag) [NOTICE_##symbol] = NOTICE_##symbol < NOTICE_GUESSING ? (name) : NULL,
#include "tbl/notices.def"
};

const char *const notice_languages[NOTICE_LANGUAGES + 1] = {[NOTICE_EN] = "en", [NOTICE_ES] = "es", [NOTICE_FR] = "fr"};

static const struct {
    const char *title, *body;
} texts[NOTICE_COUNT][NOTICE_LANGUAGES] = {
#define NOTICE_TEXT(symbol, language, title, body) [NOTICE_##symbol][NOTICE_##language] = {title, body},
#include "tbl/notices.def"
};

enum err notice_record(struct tx *tx, const struct notice_moment *moment)
{
    const struct id id = id_new(tx->now_us);
    db_notify(tx->db, TOPIC_NOTICES);
    return db_exec(tx->db,
                   SQL(notice_insert, .id = &id, .building_id = &moment->building_id, .notices = moment->notices,
                       .at = moment->at_us, .label = moment->label, .minutes = moment->minutes, .quiet = moment->quiet),
                   NULL);
}

enum notice notice_choose(unsigned happened, unsigned wanted)
{
    for (unsigned i = NOTICE_COUNT; i-- > 0;)
        if (happened & wanted & 1U << i)
            return (enum notice)i;
    return NOTICE_COUNT;
}

unsigned notice_of_role(enum member_role role)
{
    return role == MEMBER_RESIDENT ? ~0U : ~NOTICE_BIT(RING);
}

unsigned notice_allowed(const struct principal *who)
{
    return notice_of_role(principal_visits(who) ? principal_role(who) : MEMBER_RESIDENT);
}

/* ---- texts ---- */

enum notice_language notice_language(struct str name)
{
    const int found = str_index(name, notice_languages);
    return found < 0 ? NOTICE_EN : (enum notice_language)found;
}

struct notice_text notice_text(enum notice notice, struct str language, const struct notice_moment *moment,
                               struct str building, struct arena *a)
{
    const enum notice_language i = notice_language(language);
    const struct text_word words[] = {
        {STR("label"), moment->label},
        {STR("building"), building},
        {STR("minutes"), arena_printf(a, "%lld", (long long)moment->minutes)},
    };
    const size_t n = sizeof words / sizeof *words;
    return (struct notice_text){.title = text_fill(a, texts[notice][i].title, words, n),
                                .body = text_fill(a, texts[notice][i].body, words, n)};
}

/* ---- choices for e-mail ---- */

/* The owner's, and a member's, are stored apart. */
static enum err query_mail(struct tx *tx, const struct principal *who, const struct id *building, struct cursor *ret)
{
    return id_given(&who->member_id)
               ? db_one(tx->db, SQL(member_mail_get, .building_id = building, .id = &who->member_id), ret)
               : db_one(tx->db, SQL(notice_mail_get, .building_id = building), ret);
}

enum err notice_mail_get(struct tx *tx, const struct principal *who, const struct id *building, unsigned *ret)
{
    CURSOR c;
    enum err e = query_mail(tx, who, building, &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = e ? 0 : (unsigned)row_notice_mail_get(&c, NULL).notices;
    return ERR_NONE;
}

enum err notice_mail_set(struct tx *tx, const struct principal *who, const struct id *building, unsigned notices,
                         struct str language)
{
    if (id_given(&who->member_id))
        return db_exec(tx->db,
                       SQL(member_mail_put, .building_id = building, .id = &who->member_id, .notices = notices,
                           .language = language),
                       NULL);
    if (!notices)
        return db_exec(tx->db, SQL(notice_mail_delete, .building_id = building), NULL);
    return db_exec(tx->db,
                   SQL(notice_mail_put, .building_id = building, .account_id = &who->account_id, .notices = notices,
                       .language = language),
                   NULL);
}
