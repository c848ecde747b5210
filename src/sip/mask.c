#include "sip/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct line {
    char *p;
    size_t n;
};

/* Takes the next line, without its end. False after the last one. */
static bool next_line(struct line *rest, struct line *ret)
{
    if (!rest->n)
        return false;
    const char *end = memchr(rest->p, '\n', rest->n);
    const size_t whole = end ? (size_t)(end - rest->p) + 1 : rest->n;
    *ret = (struct line){rest->p, end ? whole - 1 : whole};
    if (ret->n && ret->p[ret->n - 1] == '\r')
        ret->n--;
    rest->p += whole;
    rest->n -= whole;
    return true;
}

static bool begins(const struct line *l, const char *lead)
{
    const size_t n = strlen(lead);
    return l->n >= n && strncasecmp(l->p, lead, n) == 0;
}

static void cover(const struct line *l, size_t from)
{
    if (from < l->n)
        memset(l->p + from, 'x', l->n - from);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Covers the value of a header with credentials, but for its first word, the scheme. */
static bool cover_credentials(const struct line *l)
{
    static const char *const names[] = {"Authorization", "Proxy-Authorization", "Authentication-Info",
                                        "Proxy-Authentication-Info"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t at = strlen(names[i]);
        if (!begins(l, names[i]))
            continue;
        while (at < l->n && is_blank(l->p[at]))
            at++;
        if (at == l->n || l->p[at++] != ':')
            continue;
        while (at < l->n && is_blank(l->p[at]))
            at++;
        const size_t scheme = at;
        while (at < l->n && isalpha((unsigned char)l->p[at]))
            at++;
        cover(l, at < l->n && is_blank(l->p[at]) ? at + 1 : scheme);
        return true;
    }
    return false;
}

/* "Signal=5" keeps the name; "5" keeps nothing. */
static void cover_keys(const struct line *l)
{
    const char *equals = memchr(l->p, '=', l->n);
    cover(l, equals ? (size_t)(equals - l->p) + 1 : 0);
}

static void cover_sdp(const struct line *l)
{
    static const char *const leads[] = {"a=crypto:", "a=key-mgmt:", "a=ice-pwd:", "k="};
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
        if (begins(l, leads[i]))
            cover(l, strlen(leads[i]));
}

/* Masks the headers; whether they are of an INFO. `rest` is then the body. */
static bool mask_headers(struct line *rest)
{
    struct line l;
    bool info = false, first = true, credentials = false;
    while (next_line(rest, &l) && l.n) {
        if (first)
            info = begins(&l, "INFO ");
        else if (credentials && is_blank(l.p[0])) /* continued */
            cover(&l, 0);
        else
            credentials = cover_credentials(&l);
        first = false;
    }
    return info;
}

void sip_mask(char *text, size_t n)
{
    struct line rest = {text, n}, l;
    while (rest.n && (rest.p[0] == '\r' || rest.p[0] == '\n')) { /* keep-alives before the message */
        rest.p++;
        rest.n--;
    }
    const bool info = mask_headers(&rest);
    while (next_line(&rest, &l)) {
        if (info)
            cover_keys(&l);
        else
            cover_sdp(&l);
    }
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)text[i]) && !strchr("\r\n\t", text[i]))
            text[i] = '.';
        else if (!text[i])
            text[i] = '.';
}
