#include "domain/notice.h"

#include "base/buf.h"
#include "domain/row.h"

#define TEXT_MAX 2048

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

enum language { EN, ES, FR };
const char *const notice_languages[NOTICE_LANGUAGES + 1] = {[EN] = "en", [ES] = "es", [FR] = "fr"};

static const struct {
    const char *title, *body;
} texts[NOTICE_COUNT][NOTICE_LANGUAGES] = {
#define NOTICE_TEXT(symbol, language, title, body) [NOTICE_##symbol][language] = {title, body},
#include "tbl/notices.def"
};

enum err notice_record(struct tx *tx, const struct notice_moment *moment)
{
    const struct id id = id_new(tx->now_us);
    db_notify(tx->db, TOPIC_NOTICES);
    return db_exec(tx->db, SQL_NOTICE_INSERT,
                   DB_ARGS(v_str(id_str(&id)), v_str(id_str(&moment->building_id)), v_int(moment->notices),
                           v_int(moment->at_us), v_str(moment->label), v_int(moment->minutes)),
                   NULL);
}

enum notice notice_choose(unsigned happened, unsigned wanted)
{
    for (unsigned i = NOTICE_COUNT; i-- > 0;)
        if (happened & wanted & 1U << i)
            return (enum notice)i;
    return NOTICE_COUNT;
}

/* ---- texts ---- */

static void put_word(struct buf *b, struct str word, const struct notice_moment *m, struct str building)
{
    if (str_eq(word, STR("label")))
        buf_str(b, m->label);
    else if (str_eq(word, STR("building")))
        buf_str(b, building);
    else
        buf_i64(b, m->minutes);
}

static struct str fill(const char *form, const struct notice_moment *m, struct str building, struct arena *a)
{
    struct buf b = BUF(TEXT_MAX);
    for (struct str rest = str_z(form), word; rest.p;) {
        buf_str(&b, str_cut(rest, '{', &rest));
        if (!rest.p)
            break;
        word = str_cut(rest, '}', &rest);
        put_word(&b, word, m, building);
    }
    const struct str text = arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

struct notice_text notice_text(enum notice notice, struct str language, const struct notice_moment *moment,
                               struct str building, struct arena *a)
{
    const int found = str_index(language, notice_languages);
    const int i = found < 0 ? EN : found;
    return (struct notice_text){.title = fill(texts[notice][i].title, moment, building, a),
                                .body = fill(texts[notice][i].body, moment, building, a)};
}

/* ---- choices for e-mail ---- */

enum err notice_mail_get(struct tx *tx, const struct id *building, unsigned *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL_NOTICE_MAIL_GET, DB_ARGS(v_str(id_str(building))), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = e ? 0 : (unsigned)col_int(&c, COL_NOTICE_MAIL_GET_NOTICES);
    return ERR_NONE;
}

enum err notice_mail_set(struct tx *tx, const struct id *account, const struct id *building, unsigned notices,
                         struct str language)
{
    const struct val id = v_str(id_str(building));
    if (!notices)
        return db_exec(tx->db, SQL_NOTICE_MAIL_DELETE, DB_ARGS(id), NULL);
    return db_exec(tx->db, SQL_NOTICE_MAIL_PUT, DB_ARGS(id, v_str(id_str(account)), v_int(notices), v_str(language)),
                   NULL);
}
