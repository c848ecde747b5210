/* The questions of `porterod setup` as a table, and their answers: read, asked again. */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/setup.h"
#include "cli/setup_check.h"
#include "client/complain.h"

#define ANSWERS_MAX   65536
#define ALWAYS        (-1)
#define HTTPS_PORT    8443
#define FREE_PORT_MIN 1024 /* the unit gives no lower one */

const struct setup_row setup_rows[QUESTIONS] = {
    [Q_DATA_DIR] = {"data_dir", NULL, "top", "data_dir", "/var/lib/portero", ALWAYS, SETUP_OPEN},
    [Q_METRICS] = {"metrics", NULL, "listen", "metrics", "", ALWAYS, SETUP_OPEN},
    [Q_PLAN] = {"plan", NULL, "billing", "free_plan", "weekly", ALWAYS, SETUP_OPEN},
    [Q_PUBLIC_URL] = {"public_url", "Address of the website and the API, as browsers will have it", "top", "public_url",
                      "https://%s:8443", ALWAYS, SETUP_OPEN},
    [Q_HTTPS] = {"https", NULL, "listen", "https", "0.0.0.0:%u", ALWAYS, SETUP_OPEN},
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
    [Q_RESIDENTS] = {"residents", "E-mail addresses of the residents, separated by commas: only they can sign in", NULL,
                     NULL, "", ALWAYS, SETUP_OPEN},
    [Q_NUMBERS] = {"numbers", "Numbers or extensions that the call boxes dial, such as 4711, separated by commas", NULL,
                   NULL, "", ALWAYS, SETUP_OPEN},
    [Q_PBX] = {"pbx", "SIP server of the PBX or provider that rings residents' telephones, if there is one", "peer",
               "server", "", ALWAYS, SETUP_OPEN},
    [Q_PBX_USER] = {"pbx_user", "User at that server, if it wants a registration", "peer", "user", "", Q_PBX,
                    SETUP_OPEN},
    [Q_PBX_PASSWORD] = {"pbx_password", "Password at that server", "peer", "password", NULL, Q_PBX_USER, SETUP_HIDDEN},
    [Q_DESTINATIONS] =
        {"destinations",
         "Prefixes of the telephone numbers that may be called, separated by commas, ! before those that "
         "may not; empty: all",
         "voice", "destinations", "", Q_PBX, SETUP_OPEN},
    [Q_STORE] = {"store_dsn", "Database: " SETUP_SQLITE ", or PostgreSQL as `host=… dbname=… user=… password=…`",
                 "store", "dsn", SETUP_SQLITE, ALWAYS, SETUP_FILED},
};

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

/* The answer in the file, trimmed; STR_NONE: the file has none. */
static struct str given_answer(const struct setup *s, const struct setup_row *q)
{
    for (struct str rest = s->given, line, value; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        struct str name = str_trim(str_cut(line, '=', &value));
        if (value.p && str_eq(name, str_z(q->name)))
            return str_trim(value);
    }
    return STR_NONE;
}

/* ---- defaults ---- */

/* The numbers of each country that may be called: without numbers that cost more than a call within it. In +1 these are
 * 900 and the countries beyond the United States and Canada. */
static const char *const countries[] = {
    ("+1, !+1900, !+1242, !+1246, !+1264, !+1268, !+1284, !+1345, !+1441, !+1473, !+1649, !+1658, !+1664, !+1721, "
     "!+1758, !+1767, !+1784, !+1809, !+1829, !+1849, !+1868, !+1869, !+1876"),
    "+31, !+3190",
    "+32, !+3290",
    "+33, !+3381, !+3382, !+3389",
    "+34, !+3480, !+3490",
    "+39, !+39199, !+3989",
    "+41, !+4190",
    "+43, !+4382, !+4390, !+4393",
    "+44, !+4470, !+4484, !+4487, !+449",
    "+45, !+4590",
    "+46, !+46900, !+46939, !+46944",
    "+47, !+4782",
    "+48, !+4870",
    "+49, !+49137, !+49180, !+49900",
    "+61, !+61190",
    "+64, !+64900",
};

/* The country of the first number, if it is known. */
static const char *destinations_of(const char *numbers)
{
    for (size_t i = 0; i < sizeof countries / sizeof *countries; i++)
        if (strncmp(numbers, countries[i], strcspn(countries[i], ",")) == 0)
            return countries[i];
    return "";
}

/* HTTPS follows the port of public_url where it had it. */
static const char *https_before(struct setup *s)
{
    char host[SETUP_HOST_MAX];
    const char *before = s->before[Q_HTTPS], *port = strrchr(before, ':');
    if (!port || !setup_is_changed(s, Q_PUBLIC_URL) || strcmp(port, setup_host(s->before[Q_PUBLIC_URL], host)) != 0)
        return before;
    return arena_printf(&s->arena, "%.*s:%u", (int)(port - before), before, s->port).p;
}

static const char *default_of(struct setup *s, int i)
{
    const struct setup_row *q = &setup_rows[i];
    if (i == Q_DATA_DIR && s->data_dir)
        return s->data_dir;
    if (i == Q_DESTINATIONS && (s->fresh || !*s->before[i]))
        return destinations_of(s->answers[Q_NUMBERS]);
    if (!s->fresh)
        return i == Q_HTTPS ? https_before(s) : s->before[i];
    const char *mark = q->dflt ? strchr(q->dflt, '%') : NULL;
    if (!mark)
        return q->dflt;
    const int before = (int)(mark - q->dflt);
    return mark[1] == 'u' ? arena_printf(&s->arena, "%.*s%u%s", before, q->dflt, s->port, mark + 2).p
                          : arena_printf(&s->arena, "%.*s%s%s", before, q->dflt, s->host, mark + 2).p;
}

/* ---- asking ---- */

/* One line of standard input, trimmed; STR_NONE at its end. Of a line that is too long, the first bytes. */
static struct str read_line(struct setup *s)
{
    char line[SETUP_ANSWER_MAX + 1];
    size_t n = 0;
    bool any = false;
    for (int c; (c = getchar()) != EOF && c != '\n'; any = true)
        if (n < sizeof line)
            line[n++] = (char)c;
    if (feof(stdin) && !any)
        return STR_NONE;
    if (n && n < sizeof line && line[n - 1] == '\r')
        n--;
    return arena_str(&s->arena, n < sizeof line ? str_trim(str_n(line, n)) : str_n(line, n));
}

/* The terminal as it was before its echo was switched off, for a signal that ends the process meanwhile. */
static struct termios terminal;

static void end_by_signal(int number)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void handle_ends(void (*handler)(int number))
{
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        (void)signal(ending_signals[i], handler);
}

/* Switches the echo off, before the question, so that nothing typed is shown or lost. False: it is no terminal. */
static bool hide_answer(void)
{
    if (tcgetattr(STDIN_FILENO, &terminal))
        return false;
    struct termios hidden = terminal;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    handle_ends(end_by_signal);
    return tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
}

static void show_answers(void)
{
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
    handle_ends(SIG_DFL);
    putchar('\n');
}

/* The answer as it is given, STR_NONE at the end of the input. */
static struct str ask(struct setup *s, const struct setup_row *q, const char *dflt)
{
    const bool shown = dflt && *dflt, secret = q->secret != SETUP_OPEN && (!dflt || strcmp(dflt, SETUP_SQLITE) != 0);
    if (s->answers_path) {
        const struct str given = given_answer(s, q);
        return given.p ? given : STR("");
    }
    if (!q->ask)
        return STR("");
    const bool hidden = s->interactive && q->secret == SETUP_HIDDEN && hide_answer();
    if (s->interactive)
        printf("%s%s%s%s: ", q->ask, shown ? " [" : "", !shown ? "" : secret ? "as before" : dflt, shown ? "]" : "");
    fflush(stdout);
    const struct str answer = read_line(s);
    if (hidden)
        show_answers();
    return answer;
}

/* Asks until the answer is right; somebody who cannot be asked again gets an error. */
static bool answer_one(struct setup *s, int i)
{
    const struct setup_row *q = &setup_rows[i];
    const char *dflt = default_of(s, i);
    for (;;) {
        struct str text = ask(s, q, dflt);
        if (!text.p) {
            if (s->interactive)
                putchar('\n');
            complain("the input ended before the last question; nothing was written");
            return false;
        }
        if (!text.n)
            text = str_z(dflt ? dflt : "");
        else if (str_eq(text, STR("-")))
            text = STR("");
        const char *complaint = setup_complaint(s, i, text);
        if (!complaint) {
            s->answers[i] = arena_str(&s->arena, text).p;
            return true;
        }
        complain("%s", complaint);
        if (!s->interactive || !q->ask)
            return false;
    }
}

/* HTTPS listens on the port of the address, unless that is one which the unit does not give. */
static void take_url(struct setup *s, const char *url)
{
    const char *at = setup_host(url, s->host);
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
        printf("This %s %s. Enter %s the answer in brackets, - %s it. Nothing is written before the last question.\n\n",
               s->fresh ? "writes" : "changes", s->path, s->fresh ? "takes" : "keeps",
               s->fresh ? "empties" : "removes");
    for (int i = 0; i < QUESTIONS; i++) {
        if (!setup_is_asked(s, i))
            s->answers[i] = "";
        else if (!answer_one(s, i))
            return false;
        if (i == Q_PUBLIC_URL)
            take_url(s, s->answers[i]);
    }
    if (s->interactive)
        putchar('\n');
    return true;
}
