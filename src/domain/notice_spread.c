/* Messages and mails of a moment. */
#include "domain/mail.h"
#include "domain/notice.h"
#include "domain/push.h"

/* Mails of a building: MAIL_BURST at once, then one in MAIL_EVERY_US. Those beyond are not sent. */
#define MAIL_EVERY_US (180 * US_PER_S)
#define MAIL_BURST    (NOTICE_MAIL_PAID_S * US_PER_S / MAIL_EVERY_US)

struct recorded {
    struct id id;
    struct notice_moment moment;
};

/* The facts about a building that messages need. */
struct place {
    struct id account_id;
    struct str label;
    struct str email; /* STR_NONE: no mail is wanted, or the account is being erased */
    unsigned mail;    /* the notices for it */
    struct str language;
    int64_t paid_until_us;
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
        .email = row.email,
        .mail = (unsigned)row.notices,
        .language = row.language,
        .paid_until_us = row.paid_until,
    };
    return ERR_NONE;
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

static enum err mail_of(struct tx *tx, const struct place *p, enum notice notice, const struct notice_moment *m)
{
    const struct notice_text text = notice_text(notice, p->language, m, p->label, tx->arena);
    const struct mail_intent mail = {
        .to = p->email,
        .subject = text.title,
        .text = arena_printf(tx->arena, "%.*s\n%.*s\n\n%s\n%s/notices\n", STR_ARG(text.title), STR_ARG(text.body),
                             why_sent(p->language), tx->config->top_public_url),
        .language = p->language,
        .created_us = tx->now_us,
        .give_up_us = m->at_us + notice_kinds[notice].ttl_s * US_PER_S,
    };
    return mail_queue(tx, &mail);
}

static enum err spread_mail(struct tx *tx, const struct place *p, const struct notice_moment *m)
{
    const enum notice notice = notice_choose(m->notices, p->mail);
    const int64_t paid_us = p->paid_until_us > tx->now_us ? p->paid_until_us : tx->now_us;
    if (notice == NOTICE_COUNT || !p->email.p || paid_us - tx->now_us > (MAIL_BURST - 1) * MAIL_EVERY_US)
        return ERR_NONE;
    enum err e = db_exec(
        tx->db, SQL(notice_mail_pay, .building_id = &m->building_id, .paid_until = paid_us + MAIL_EVERY_US), NULL);
    return e ? e : mail_of(tx, p, notice, m);
}

/* ---- moments ---- */

static enum err spread_one(struct tx *tx, const struct notice_moment *m)
{
    struct place p;
    enum err e = place_read(tx, &m->building_id, &p);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e; /* the building was removed */
    e = push_spread(tx, &p.account_id, p.label, m);
    return e ? e : spread_mail(tx, &p, m);
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
                       .minutes = row.minutes},
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
