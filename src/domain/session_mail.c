#include "domain/session_mail.h"

#include <glib.h>

#include "base/buf.h"
#include "domain/session.h"
#include "domain/sign_in_html.h"

#define VALID_MINUTES (CHALLENGE_TTL_S / 60)
#define HTML_MAX      8192

/* ---- template ---- */

struct blank {
    struct str name, text; /* {{name}} is replaced by the text, escaped */
};

static void session_mail_escape(struct buf *b, struct str s)
{
    char *text = g_markup_escape_text(s.p, (gssize)s.n);
    buf_str(b, str_z(text));
    g_free(text);
}

/* Writes nothing for an unknown name. */
static void put_blank(struct buf *b, struct str name, const struct blank *blanks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(name, blanks[i].name))
            session_mail_escape(b, blanks[i].text);
}

static struct str session_mail_fill(struct arena *a, const char *page, const struct blank *blanks, size_t count)
{
    struct buf b = BUF(HTML_MAX);
    for (const char *open, *close; (open = strstr(page, "{{")) && (close = strstr(open, "}}")); page = close + 2) {
        buf_put(&b, page, (size_t)(open - page));
        put_blank(&b, str_n(open + 2, (size_t)(close - open - 2)), blanks, count);
    }
    buf_str(&b, str_z(page));
    struct str text = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    buf_done(&b);
    return text;
}

/* ---- the mail ---- */

static struct str session_mail_text(struct arena *a, struct str email, struct str code)
{
    return arena_printf(a,
                        "%.*s is your Portero sign-in code.\n"
                        "\n"
                        "Enter it on the sign-in page.\n"
                        "It is valid for %d minutes and works once.\n"
                        "\n"
                        "Someone requested this code to sign in to Portero as %.*s.\n"
                        "If it was not you, ignore this mail: nobody can sign in without the code.\n"
                        "Do not share the code with anyone.\n",
                        STR_ARG(code), VALID_MINUTES, STR_ARG(email));
}

/* The same content as the text. The page loads nothing and has no links. */
static struct str session_mail_html(struct tx *tx, struct str subject, struct str email, struct str code)
{
    const struct blank blanks[] = {
        {STR("subject"), subject},
        {STR("code"), code},
        {STR("email"), email},
        {STR("minutes"), arena_printf(tx->arena, "%d", VALID_MINUTES)},
        {STR("privacy"), mail_privacy(tx, STR_NONE)},
    };
    return session_mail_fill(tx->arena, sign_in_html, blanks, sizeof blanks / sizeof *blanks);
}

static struct str session_mail_subject(const struct tx *tx, struct str code)
{
    return tx->config->mail_code_in_subject
               ? arena_printf(tx->arena, "%.*s is your Portero sign-in code", STR_ARG(code))
               : STR("Your Portero sign-in code");
}

struct mail_intent session_mail(struct tx *tx, struct str email, struct str code, int64_t expires_us)
{
    const struct str subject = session_mail_subject(tx, code);
    return (struct mail_intent){
        .to = email,
        .subject = subject,
        .text = session_mail_text(tx->arena, email, code),
        .html = session_mail_html(tx, subject, email, code),
        .code = code,
        .created_us = tx->now_us,
        .give_up_us = expires_us,
    };
}
