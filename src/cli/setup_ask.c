/* The questions of `portero setup` as a table, and their answers: read, checked, asked again. */
#include <errno.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/setup.h"
#include "cli/setup_check.h"

#define ANSWER_MAX    1000
#define ANSWERS_MAX   65536
#define ALWAYS        (-1)
#define HTTPS_PORT    8443
#define FREE_PORT_MIN 1024 /* the unit gives no lower one */

const struct setup_row setup_rows[QUESTIONS] = {
    [Q_PUBLIC_URL] = {"public_url", "Address of the website and the API, as browsers will have it", "top", "public_url",
                      "https://%s:8443", ALWAYS, SETUP_OPEN},
    [Q_SIP] = {"sip", "Address and port for calls by SIP", "listen", "sip", "0.0.0.0:5060", ALWAYS, SETUP_OPEN},
    [Q_CERTIFICATE] = {"certificate", "TLS certificate: a PEM file with the chain, or " SETUP_SELF_SIGNED, "tls",
                       "certificate", SETUP_SELF_SIGNED, ALWAYS, SETUP_OPEN},
    [Q_KEY] = {"key", "PEM file of its private key", "tls", "key", NULL, Q_CERTIFICATE, SETUP_OPEN},
    [Q_MAIL_URL] = {"mail_url", "Mail server, for the codes with which residents sign in", "mail", "url",
                    "smtp://localhost:25", ALWAYS, SETUP_OPEN},
    [Q_MAIL_USER] = {"mail_user", "User at the mail server, if it wants a login", "mail", "user", "", ALWAYS,
                     SETUP_OPEN},
    [Q_MAIL_PASSWORD] = {"mail_password", "Password at the mail server", "mail", "password", NULL, Q_MAIL_USER,
                         SETUP_HIDDEN},
    [Q_MAIL_FROM] = {"mail_from", "Sender of e-mail", "mail", "from", "Portero <portero@%s>", ALWAYS, SETUP_OPEN},
    [Q_CALLERS] = {"callers", "IP addresses of the call boxes, separated by commas; empty: anybody may call", "voice",
                   "peers", "", ALWAYS, SETUP_OPEN},
    [Q_NUMBERS] = {"numbers", "Numbers or extensions that the call boxes dial, such as 4711, separated by commas", NULL,
                   NULL, "", ALWAYS, SETUP_OPEN},
    [Q_PBX] = {"pbx", "SIP server of the PBX or provider that rings residents' telephones, if there is one", "peer",
               "server", "", ALWAYS, SETUP_OPEN},
    [Q_PBX_USER] = {"pbx_user", "User at that server, if it wants a registration", "peer", "user", "", Q_PBX,
                    SETUP_OPEN},
    [Q_PBX_PASSWORD] = {"pbx_password", "Password at that server", "peer", "password", NULL, Q_PBX_USER, SETUP_HIDDEN},
    [Q_STORE] = {"store_dsn", "Database: " SETUP_SQLITE ", or PostgreSQL as `host=… dbname=… user=… password=…`",
                 "store", "dsn", SETUP_SQLITE, ALWAYS, SETUP_FILED},
    [Q_HTTPS] = {"https", NULL, "listen", "https", "0.0.0.0:%u", ALWAYS, SETUP_OPEN},
    [Q_METRICS] = {"metrics", NULL, "listen", "metrics", "", ALWAYS, SETUP_OPEN},
    [Q_PLAN] = {"plan", NULL, "billing", "free_plan", "weekly", ALWAYS, SETUP_OPEN},
    [Q_DATA_DIR] = {"data_dir", NULL, "top", "data_dir", "/var/lib/portero", ALWAYS, SETUP_OPEN},
};

const struct config_row *setup_key(const struct setup_row *q)
{
    const bool peer = q->section && strcmp(q->section, "peer") == 0;
    const struct config_row *r = peer ? config_peer_rows : config_rows;
    for (; q->section && r->key; r++)
        if (strcmp(r->key, q->key) == 0 && (peer || strcmp(r->section, q->section) == 0))
            return r;
    return NULL;
}

/* ---- checking an answer ---- */

static bool are_numbers(const char *text)
{
    for (struct str rest = str_z(text), one; rest.p;) {
        one = str_trim(str_cut(rest, ',', &rest));
        const size_t plus = one.n && *one.p == '+';
        if (one.n < 2 + 5 * plus || one.n > 15 + plus || (plus && one.p[1] == '0') ||
            strspn(one.p + plus, "0123456789") < one.n - plus)
            return false;
    }
    return true;
}

static bool is_dsn(const char *text)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(text, &why);
    const bool valid = options;
    PQconninfoFree(options);
    PQfreemem(why);
    return valid;
}

bool setup_is_wrong(struct setup *s, const struct setup_row *q, const char *text, char rule[static CONFIG_RULE_MAX])
{
    const struct config_row *row = setup_key(q);
    union {
        struct config config;
        struct config_peer peer;
    } *scratch = arena_alloc(&s->arena, sizeof *scratch);
    memset(scratch, 0, sizeof *scratch);
    rule[0] = '\0';
    if (!*text && !q->dflt)
        snprintf(rule, CONFIG_RULE_MAX, "must not be empty");
    else if (q->secret == SETUP_OPEN && strpbrk(text, "\"\\$\n\r"))
        snprintf(rule, CONFIG_RULE_MAX, "must not contain quotation marks, backslashes or dollar signs");
    else if (q == &setup_rows[Q_NUMBERS] && *text && !are_numbers(text))
        snprintf(rule, CONFIG_RULE_MAX, "must be numbers like +15550100000, or extensions of 2 to 15 digits");
    else if (q == &setup_rows[Q_STORE] && strcmp(text, SETUP_SQLITE) != 0 && !is_dsn(text))
        snprintf(rule, CONFIG_RULE_MAX,
                 "must be " SETUP_SQLITE ", or a connection string like host=localhost dbname=portero user=portero");
    else if (row && q->secret == SETUP_OPEN &&
             !(q == &setup_rows[Q_CERTIFICATE] && strcmp(text, SETUP_SELF_SIGNED) == 0))
        (void)config_set(row, text, &s->arena, scratch, rule);
    return *rule;
}

/* ---- a file of answers ---- */

/* Fails for a line that answers no question: a misspelt one would have no effect. */
static bool check_given(const struct setup *s)
{
    for (struct str rest = s->given, line, value; rest.p;) {
        line = str_trim(str_cut(rest, '\n', &rest));
        struct str name = str_trim(str_cut(line, '=', &value));
        int i = 0;
        while (i < QUESTIONS && !str_eq(name, str_z(setup_rows[i].name)))
            i++;
        if (line.n && *line.p != '#' && (!value.p || i == QUESTIONS)) {
            complain("%s: no question is called `%.*s`", s->answers_path, STR_ARG(name));
            return false;
        }
    }
    return true;
}

bool setup_read_answers(struct setup *s)
{
    FILE *f = fopen(s->answers_path, "re");
    char *text = arena_alloc(&s->arena, ANSWERS_MAX);
    const size_t n = f ? fread(text, 1, ANSWERS_MAX, f) : 0;
    const bool whole = f && !ferror(f) && n < ANSWERS_MAX;
    if (!whole)
        complain("%s: %s", s->answers_path, f ? "too large, or cannot be read" : strerror(errno));
    if (f)
        fclose(f);
    s->given = str_n(text, n);
    return whole && check_given(s);
}

/* The answer in the file; NULL: the file has none. */
static const char *given_answer(struct setup *s, const struct setup_row *q)
{
    for (struct str rest = s->given, line, value; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        struct str name = str_trim(str_cut(line, '=', &value));
        if (value.p && str_eq(name, str_z(q->name)))
            return arena_str(&s->arena, str_trim(value)).p;
    }
    return NULL;
}

/* ---- asking ---- */

static const char *default_of(struct setup *s, const struct setup_row *q)
{
    if (q == &setup_rows[Q_DATA_DIR] && s->data_dir)
        return s->data_dir;
    if (!q->dflt)
        return NULL;
    const char *mark = strchr(q->dflt, '%');
    if (!mark)
        return q->dflt;
    const int before = (int)(mark - q->dflt);
    return mark[1] == 'u' ? arena_printf(&s->arena, "%.*s%u%s", before, q->dflt, s->port, mark + 2).p
                          : arena_printf(&s->arena, "%.*s%s%s", before, q->dflt, s->host, mark + 2).p;
}

/* One line of standard input; NULL at its end. */
static const char *read_answer(struct setup *s)
{
    char line[ANSWER_MAX];
    if (!fgets(line, sizeof line, stdin))
        return NULL;
    line[strcspn(line, "\r\n")] = '\0';
    return arena_str(&s->arena, str_trim(str_z(line))).p;
}

static void echo(bool on)
{
    struct termios t;
    if (tcgetattr(STDIN_FILENO, &t))
        return;
    t.c_lflag = on ? t.c_lflag | (tcflag_t)ECHO : t.c_lflag & ~(tcflag_t)ECHO;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &t);
}

static const char *ask(struct setup *s, const struct setup_row *q, const char *dflt)
{
    if (s->answers_path)
        return given_answer(s, q);
    if (!q->ask)
        return dflt;
    if (s->interactive)
        printf("%s%s%s%s: ", q->ask, dflt && *dflt ? " [" : "", dflt ? dflt : "", dflt && *dflt ? "]" : "");
    fflush(stdout);
    if (!s->interactive || q->secret != SETUP_HIDDEN)
        return read_answer(s);
    echo(false);
    const char *answer = read_answer(s);
    echo(true);
    putchar('\n');
    return answer;
}

/* Asks until the answer is right; somebody who cannot be asked again gets an error. */
static bool answer_one(struct setup *s, int i)
{
    const struct setup_row *q = &setup_rows[i];
    const char *dflt = default_of(s, q), *text;
    char rule[CONFIG_RULE_MAX];
    for (;;) {
        text = ask(s, q, dflt);
        const bool ended = !text;
        if (!text || !*text)
            text = dflt ? dflt : "";
        if (!setup_is_wrong(s, q, text, rule))
            break;
        complain("%s %s", q->name, rule);
        if (!s->interactive || ended || !q->ask)
            return false;
    }
    s->answers[i] = text;
    return true;
}

/* HTTPS listens on the port of the address, unless that is one which the unit does not give. */
static void take_url(struct setup *s)
{
    const char *at = setup_host(s->answers[Q_PUBLIC_URL], s->host);
    const unsigned long port = *at == ':' ? strtoul(at + 1, NULL, 10) : 0;
    s->port = port >= FREE_PORT_MIN && port <= UINT16_MAX ? (unsigned)port : HTTPS_PORT;
}

static void find_host(struct setup *s)
{
    struct addrinfo *all = NULL;
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME};
    char name[SETUP_HOST_MAX] = "localhost";
    (void)gethostname(name, sizeof name - 1);
    const bool found = getaddrinfo(name, NULL, &hints, &all) == 0;
    snprintf(s->host, sizeof s->host, "%s", found && all->ai_canonname ? all->ai_canonname : name);
    if (found)
        freeaddrinfo(all);
}

bool setup_ask(struct setup *s)
{
    find_host(s);
    if (s->interactive)
        printf("This writes %s. Enter takes the answer in brackets; nothing is written before the last question.\n\n",
               s->path);
    for (int i = 0; i < QUESTIONS; i++) {
        const int after = setup_rows[i].after;
        s->answers[i] = "";
        if (after != ALWAYS &&
            (!*s->answers[after] || (i == Q_KEY && strcmp(s->answers[after], SETUP_SELF_SIGNED) == 0)))
            continue;
        if (!answer_one(s, i))
            return false;
        if (i == Q_PUBLIC_URL)
            take_url(s);
    }
    if (s->interactive)
        putchar('\n');
    return true;
}
