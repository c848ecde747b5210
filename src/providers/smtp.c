#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config_check.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"
#include "providers/mail.h"
#include "providers/mime.h"

#define CONNECT_TIMEOUT_S 10L
#define TIMEOUT_S         30L
#define MESSAGE_MAX       1048576 /* with 30 s of audio */

struct smtp_mailer {
    struct mailer mailer;
    struct arena arena;
    const char *url, *user;
    struct str password;
    struct str from;          /* for the header */
    const char *from_address; /* for MAIL FROM */
    struct str domain;        /* of Message-ID */
    bool plain_allowed;       /* smtp:// works without TLS: the relay is on this machine, and mail.ca is not set */
    const char *ca;           /* PEM file; NULL: the system's */
};

/* ---- the message ---- */

static void put_mail_header(struct buf *b, const char *name, struct str value)
{
    buf_printf(b, "%s: %.*s\r\n", name, STR_ARG(value));
}

static void put_mail_headers(struct buf *b, const struct smtp_mailer *m, const struct mail_message *msg,
                             struct arena *a)
{
    put_mail_header(b, "Date", mime_date(a, msg->created_us));
    put_mail_header(b, "From", m->from);
    put_mail_header(b, "To", msg->to);
    put_mail_header(b, "Subject", mime_text(a, msg->subject));
    put_mail_header(b, "Message-ID", arena_printf(a, "<%.*s@%.*s>", STR_ARG(msg->id), STR_ARG(m->domain)));
    put_mail_header(b, "Auto-Submitted", STR("auto-generated"));
    put_mail_header(b, "MIME-Version", STR("1.0"));
}

static struct str compose_mail(const struct smtp_mailer *m, const struct mail_message *msg, struct arena *a)
{
    struct buf b = BUF(MESSAGE_MAX);
    put_mail_headers(&b, m, msg, a);
    if (msg->wav.p) {
        mime_put_with_wav(&b, msg->text, msg->wav);
    } else if (msg->html.p) {
        mime_put_alternative(&b, msg->text, msg->html);
    } else {
        put_mail_header(&b, "Content-Type", STR("text/plain; charset=utf-8"));
        mime_put_body(&b, msg->text);
    }
    struct str text = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

/* The read callback of libcurl. */
static size_t read_message_text(char *to, size_t size, size_t count, void *arg)
{
    struct str *rest = arg;
    size_t n = size * count < rest->n ? size * count : rest->n;
    memcpy(to, rest->p, n);
    *rest = str_from(*rest, n);
    return n;
}

/* ---- sending ---- */

static void set_smtp_options(CURL *curl, const struct smtp_mailer *m)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* a timeout does not wait for a name server */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    net_tls_bound_curl(curl);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_URL, m->url);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)(m->plain_allowed ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    if (m->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, m->ca);
    if (m->user[0]) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, m->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, m->password.p);
    }
}

/* A 5xx to MAIL, RCPT, DATA or the message itself is a refusal. As a greeting or to AUTH it concerns our access, so the
 * outcome is unknown. */
static enum outcome outcome_of(CURLcode result, long code, bool given)
{
    if (result == CURLE_OK)
        return OUTCOME_DONE;
    bool about_message = result == CURLE_SEND_ERROR || (result == CURLE_WEIRD_SERVER_REPLY && given);
    bool about_access = code == 530 || code == 534 || code == 535 || code == 538;
    return about_message && code >= 500 && code <= 599 && !about_access ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

static enum outcome smtp_perform(CURL *curl, const struct smtp_mailer *m, const struct mail_message *msg,
                                 struct arena *a)
{
    struct str rest = compose_mail(m, msg, a);
    struct curl_slist *to = curl_slist_append(NULL, arena_str(a, msg->to).p);
    if (!rest.p || !to) {
        curl_slist_free_all(to);
        return OUTCOME_REFUSED;
    }
    set_smtp_options(curl, m);
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, m->from_address);
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, to);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_message_text);
    curl_easy_setopt(curl, CURLOPT_READDATA, &rest);
    CURLcode result = curl_easy_perform(curl);
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    if (result)
        log_warn("smtp failed id=%.*s code=%ld reason=\"%s\"", STR_ARG(msg->id), code, curl_easy_strerror(result));
    curl_slist_free_all(to);
    return outcome_count(PROVIDER_SMTP, outcome_of(result, code, rest.n == 0));
}

static enum outcome smtp_send(struct mailer *mailer, const struct mail_message *message)
{
    const struct smtp_mailer *m = (const struct smtp_mailer *)mailer;
    if (!mime_address(message->to).p || !mime_clean(message->to) || !mime_clean(message->subject))
        return OUTCOME_REFUSED;
    CURL *curl = curl_easy_init();
    if (!curl)
        return OUTCOME_UNKNOWN;
    struct arena a;
    arena_init(&a, NULL, 0);
    enum outcome o = smtp_perform(curl, m, message, &a);
    arena_done(&a);
    curl_easy_cleanup(curl);
    return o;
}

static void smtp_free(struct mailer *mailer)
{
    struct smtp_mailer *m = (struct smtp_mailer *)mailer;
    crypto_wipe((void *)m->password.p, m->password.n);
    arena_done(&m->arena);
    free(m);
    curl_global_cleanup();
}

static const struct mailer_ops smtp_ops = {.send = smtp_send, .free = smtp_free};

/* ---- configuration ---- */

static enum err read_smtp_config(struct smtp_mailer *m, const struct config *c, char **ret_why)
{
    struct str from = str_z(c->mail_from), address = mime_address(from);
    if (!config_is_url(c->mail_url, "smtp|smtps"))
        return err_why(ret_why, ERR_USAGE, "mail.url must be like smtp://host:587 or smtps://host:465");
    if (!address.p || !mime_clean(from))
        return err_why(ret_why, ERR_USAGE, "mail.from must be like Portero <portero@example.com>");
    m->ca = *c->mail_ca ? c->mail_ca : NULL;
    if (m->ca && access(m->ca, R_OK))
        return err_why(ret_why, ERR_USAGE, "mail.ca cannot be read");
    m->plain_allowed = config_is_local_url(c->mail_url) && !m->ca;
    enum err e = config_secret_of("mail.password", c->mail_password, &m->arena, &m->password, ret_why);
    if (e)
        return e;
    m->url = c->mail_url;
    m->user = c->mail_user;
    m->from = mime_mailbox(&m->arena, from);
    m->from_address = arena_str(&m->arena, address).p;
    str_cut(address, '@', &m->domain);
    return ERR_NONE;
}

enum err smtp_mailer_new(const struct config *c, struct mailer **ret, char **ret_why)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return err_why(ret_why, ERR_USAGE, "libcurl cannot be initialised");
    struct smtp_mailer *m = mem_new(struct smtp_mailer);
    m->mailer.ops = &smtp_ops;
    arena_init(&m->arena, NULL, 0);
    enum err e = read_smtp_config(m, c, ret_why);
    if (e) {
        smtp_free(&m->mailer);
        return e;
    }
    *ret = &m->mailer;
    return ERR_NONE;
}

enum err smtp_probe(const struct config *c, char **ret_why)
{
    struct mailer *mailer = NULL;
    enum err e = smtp_mailer_new(c, &mailer, ret_why);
    if (!mailer)
        return e;
    CURL *curl = curl_easy_init();
    CURLcode result = CURLE_FAILED_INIT;
    if (curl) {
        set_smtp_options(curl, (const struct smtp_mailer *)mailer);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "NOOP");
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L); /* or the reply is printed */
        result = curl_easy_perform(curl);
    }
    curl_easy_cleanup(curl);
    smtp_free(mailer);
    return result ? err_why(ret_why, ERR_IO, "%s", curl_easy_strerror(result)) : ERR_NONE;
}
