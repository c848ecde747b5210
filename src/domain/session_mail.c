#include "domain/session_mail.h"

#include <glib.h>

#include "domain/session.h"

#define VALID_MINUTES (CHALLENGE_TTL_S / 60)

static struct str escape(struct arena *a, struct str s)
{
    char *text = g_markup_escape_text(s.p, (gssize)s.n);
    struct str copy = arena_str(a, str_z(text));
    g_free(text);
    return copy;
}

/* What is said in both forms; the words that differ are escaped by the caller. */
#define HOW_LONG "It is valid for %d minutes and works once."
#define FOR_WHOM "Somebody asked for it to sign in to Portero as %.*s."
#define IF_NOT                                                                                                         \
    "If that was not you, there is nothing to do: without the code nobody gets in.\n"                                  \
    "Never tell it to anybody who asks for it."

static struct str text_of(struct arena *a, struct str email, struct str code)
{
    return arena_printf(a,
                        "%.*s is your Portero sign-in code.\n"
                        "\n"
                        "Enter it on the page that asks for it.\n" HOW_LONG "\n"
                        "\n" FOR_WHOM "\n" IF_NOT "\n",
                        STR_ARG(code), VALID_MINUTES, STR_ARG(email));
}

/* One column of plain paragraphs without colours of their own, so that a reader's light or dark scheme is right as it
 * is; nothing is fetched, nothing is followed. */
static struct str html_of(struct arena *a, struct str email, struct str code)
{
    struct str safe_email = escape(a, email), safe_code = escape(a, code);
    return arena_printf(
        a,
        "<!DOCTYPE html>\n"
        "<html lang=\"en\">\n"
        "<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"supported-color-schemes\" content=\"light dark\">\n"
        "<title>%.*s is your Portero sign-in code</title>\n"
        "</head>\n"
        "<body style=\"margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,"
        "Arial,sans-serif\">\n"
        "<main style=\"display:block;max-width:480px;margin:0 auto;overflow-wrap:anywhere\">\n"
        "<h1 style=\"margin:0 0 16px;font-size:20px;line-height:1.3\">Your Portero sign-in code</h1>\n"
        "<p style=\"margin:0 0 16px\">Enter it on the page that asks for it:</p>\n"
        "<p style=\"margin:0 0 16px;padding:16px;border:2px solid;border-radius:8px;text-align:center;"
        "font:bold 40px/1.2 ui-monospace,Menlo,Consolas,'Courier New',monospace;letter-spacing:6px\">%.*s</p>\n"
        "<p style=\"margin:0 0 16px\">" HOW_LONG "</p>\n"
        "<p style=\"margin:0 0 16px\">" FOR_WHOM "<br>\n" IF_NOT "</p>\n"
        "</main>\n"
        "</body>\n"
        "</html>\n",
        STR_ARG(safe_code), STR_ARG(safe_code), VALID_MINUTES, STR_ARG(safe_email));
}

struct mail_intent session_mail(struct op *op, struct str email, struct str code, int64_t expires_us)
{
    return (struct mail_intent){
        .to = email,
        .subject = arena_printf(op->arena, "%.*s is your Portero sign-in code", STR_ARG(code)),
        .text = text_of(op->arena, email, code),
        .html = html_of(op->arena, email, code),
        .code = code,
        .created_us = op->now_us,
        .give_up_us = expires_us,
    };
}
