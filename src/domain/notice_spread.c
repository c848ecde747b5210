/* Messages and mails of a moment. */
#include "domain/list.h"
#include "domain/mail.h"
#include "domain/notice.h"
#include "domain/push.h"

/* Mails of a building to a person: MAIL_BURST at once, then one in MAIL_EVERY_US. Those beyond are not sent. */
#define MAIL_EVERY_US (180 * US_PER_S)
#define MAIL_BURST    (NOTICE_MAIL_PAID_S * US_PER_S / MAIL_EVERY_US)

struct recorded {
    struct id id;
    struct notice_moment moment;
};

/* A person who may want mails. */
struct reader {
    struct id member_id; /* empty: the owner */
    struct str email;    /* STR_NONE: no mail is wanted, or the account is being erased */
    unsigned notices;    /* that are wanted */
    struct str language;
    int64_t paid_until_us;
};

/* The facts about a building that messages need. */
struct place {
    struct id account_id;
    struct str label;
    struct reader owner;
};

static enum err place_read(struct tx *tx, const struct id *building, struct place *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(notice_place, .id = building), &c);
    if (e)
        return e;
    const struct row_notice_place row = row_notice_place(&c, tx->arena);
    *ret = (struct place){
        .account_id = row.account_id,
        .label = row.label,
        .owner = {.email = row.email,
                  .notices = (unsigned)row.notices,
                  .language = row.language,
                  .paid_until_us = row.paid_until},
    };
    return ERR_NONE;
}

static enum err list_members(struct tx *tx, const struct notice_moment *m, struct reader **ret, size_t *ret_count)
{
    CURSOR c;
    struct reader *list = NULL;
    size_t count = 0, room = 0;
    enum err e = db_query(tx->db, SQL(member_mail_list, .building_id = &m->building_id, .notice = m->notices), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_member_mail_list row = row_member_mail_list(&c, tx->arena);
        list[count++] = (struct reader){
            .member_id = row.id,
            .email = row.email,
            .notices = (unsigned)row.mail_notices & notice_of_role((enum member_role)row.role),
            .language = row.language,
            .paid_until_us = row.mail_paid_until,
        };
    }
    *ret = list;
    *ret_count = count;
    return e;
}

/* ---- by e-mail ---- */

static const char *why_sent(struct str language)
{
    if (str_eq(language, STR("es")))
        return "Recibe este correo porque pidió avisos de esta puerta. Puede cambiarlo aquí:";
    if (str_eq(language, STR("fr")))
        return "Vous recevez ce message parce que vous avez demandé des notifications de cette porte.\n"
               "Vous pouvez changer cela ici :";
    return "You receive this mail because you asked for notices of this door. Change that here:";
}

static enum err mail_of(struct tx *tx, struct str building, const struct reader *to, enum notice notice,
                        const struct notice_moment *m)
{
    const struct notice_text text = notice_text(notice, to->language, m, building, tx->arena);
    const struct mail_intent mail = {
        .to = to->email,
        .subject = text.title,
        .text = arena_printf(tx->arena, "%.*s\n%.*s\n\n%s\n%s/notices\n", STR_ARG(text.title), STR_ARG(text.body),
                             why_sent(to->language), tx->config->top_public_url),
        .language = to->language,
        .created_us = tx->now_us,
        .give_up_us = m->at_us + notice_kinds[notice].ttl_s * US_PER_S,
    };
    return mail_queue(tx, &mail);
}

static enum err pay(struct tx *tx, const struct reader *to, const struct id *building, int64_t until_us)
{
    return id_given(&to->member_id)
               ? db_exec(tx->db,
                         SQL(member_mail_pay, .building_id = building, .id = &to->member_id, .paid_until = until_us),
                         NULL)
               : db_exec(tx->db, SQL(notice_mail_pay, .building_id = building, .paid_until = until_us), NULL);
}

static enum err spread_mail(struct tx *tx, struct str building, const struct reader *to, const struct notice_moment *m)
{
    const enum notice notice = notice_choose(m->notices, to->notices);
    const int64_t paid_us = to->paid_until_us > tx->now_us ? to->paid_until_us : tx->now_us;
    if (notice == NOTICE_COUNT || !to->email.p || paid_us - tx->now_us > (MAIL_BURST - 1) * MAIL_EVERY_US)
        return ERR_NONE;
    enum err e = pay(tx, to, &m->building_id, paid_us + MAIL_EVERY_US);
    return e ? e : mail_of(tx, building, to, notice, m);
}

/* ---- moments ---- */

static enum err spread_one(struct tx *tx, const struct notice_moment *m)
{
    struct place p = {0};
    struct reader *members = NULL;
    size_t count = 0;
    enum err e = place_read(tx, &m->building_id, &p);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e; /* the building was removed */
    e = push_spread(tx, &p.account_id, p.label, m);
    if (!e)
        e = spread_mail(tx, p.label, &p.owner, m);
    if (!e)
        e = list_members(tx, m, &members, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = spread_mail(tx, p.label, &members[i], m);
    return e;
}

static enum err list_recorded(struct tx *tx, int64_t limit, struct recorded *ret, int64_t *ret_count)
{
    CURSOR c;
    int64_t n = 0;
    enum err e = db_query(tx->db, SQL(notice_list, .limit = limit), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < limit;) {
        const struct row_notice_list row = row_notice_list(&c, tx->arena);
        ret[n++] = (struct recorded){
            .id = row.id,
            .moment = {.building_id = row.building_id,
                       .notices = (unsigned)row.notices,
                       .at_us = row.at,
                       .label = row.label,
                       .minutes = row.minutes,
                       .quiet = row.quiet},
        };
    }
    *ret_count = n;
    return e;
}

enum err notice_spread(struct tx *tx, int64_t limit, int64_t *ret_count)
{
    struct recorded *list = arena_array(tx->arena, struct recorded, (size_t)limit);
    int64_t count = 0;
    enum err e = list_recorded(tx, limit, list, &count);
    for (int64_t i = 0; !e && i < count; i++) {
        e = spread_one(tx, &list[i].moment);
        if (!e)
            e = db_exec(tx->db, SQL(notice_delete, .id = &list[i].id), NULL);
    }
    if (!e)
        *ret_count = count;
    return e;
}
