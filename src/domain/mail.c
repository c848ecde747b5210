#include "domain/mail.h"

#include "base/crypto.h"
#include "base/json.h"
#include "domain/job.h"
#include "domain/master.h"
#include "domain/notice.h"

#define PAYLOAD_MAX 16384

struct str mail_privacy(const struct tx *tx, struct str language)
{
    static const char *const words[NOTICE_LANGUAGES] = {[NOTICE_EN] = "How we treat your data:",
                                                        [NOTICE_ES] = "Cómo tratamos sus datos:",
                                                        [NOTICE_FR] = "Comment nous traitons vos données :"};
    const char *url = tx->config->privacy_url, *contact = tx->config->privacy_contact;
    struct str lines = STR("");
    if (*url)
        lines = arena_printf(tx->arena, "%s %s\n", words[notice_language(language)], url);
    return *contact ? arena_printf(tx->arena, "%.*s%s\n", STR_ARG(lines), contact) : lines;
}

enum err mail_queue(struct tx *tx, const struct mail_intent *m)
{
    const struct str privacy = mail_privacy(tx, m->language);
    struct buf b = BUF(PAYLOAD_MAX);
    buf_lit(&b, "{\"to\":");
    json_put_str(&b, m->to);
    buf_lit(&b, ",\"subject\":");
    json_put_str(&b, m->subject);
    buf_lit(&b, ",\"text\":");
    json_put_str(&b, privacy.n ? arena_printf(tx->arena, "%.*s\n%.*s", STR_ARG(m->text), STR_ARG(privacy)) : m->text);
    if (m->html.p) {
        buf_lit(&b, ",\"html\":");
        json_put_str(&b, m->html);
    }
    if (m->code.p) {
        buf_lit(&b, ",\"code\":");
        json_put_str(&b, m->code);
    }
    if (id_given(&m->message_of))
        buf_printf(&b, ",\"building\":\"%s\",\"message_of\":\"%s\"", m->building_id.text, m->message_of.text);
    buf_printf(&b, ",\"created\":%lld,\"give_up\":%lld}", (long long)m->created_us, (long long)m->give_up_us);
    struct str sealed;
    enum err e = b.full ? ERR_INTERNAL_ERROR : master_seal(tx, MAIL_PURPOSE, buf_view(&b), &sealed);
    if (!e)
        e = job_add(tx, JOB_MAIL, tx->now_us, sealed);
    crypto_wipe(b.p, b.n);
    buf_done(&b);
    return e;
}

static struct str mail_member(const json_t *object, const char *name, struct arena *a)
{
    const json_t *v = json_object_get(object, name);
    return v ? arena_str(a, str_n(json_string_value(v), json_string_length(v))) : STR_NONE;
}

static struct id mail_id(const json_t *object, const char *name, struct arena *a)
{
    struct id id = {{0}};
    if (!id_parse(mail_member(object, name, a), &id))
        id.text[0] = '\0';
    return id;
}

enum err mail_read(struct str payload, struct arena *a, struct mail_intent *ret)
{
    struct str plain;
    json_t *j;
    if (!crypto_open(MAIL_PURPOSE, payload, a, &plain) || json_read(plain, &j))
        return ERR_SECRET_DECRYPT_FAILED;
    *ret = (struct mail_intent){
        .to = mail_member(j, "to", a),
        .subject = mail_member(j, "subject", a),
        .text = mail_member(j, "text", a),
        .html = mail_member(j, "html", a),
        .code = mail_member(j, "code", a),
        .building_id = mail_id(j, "building", a),
        .message_of = mail_id(j, "message_of", a),
        .created_us = json_integer_value(json_object_get(j, "created")),
        .give_up_us = json_integer_value(json_object_get(j, "give_up")),
    };
    json_decref(j);
    return ERR_NONE;
}
