/* portero setup: asks for what a service without outside accounts needs, writes its configuration, and checks the world
 * around it. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config_table.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/setup_check.h"
#include "http/tls_self_signed.h"

#define ANSWER_MAX  1000
#define ANSWERS_MAX 65536
#define FILE_MAX    65536
#define PATH_ROOM   4096
#define SERVICE     "portero" /* the user of the package */
#define SELF_SIGNED "self-signed"

struct setup_options {
    const char *config, *answers;
    bool force;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct setup_options, config, "config", "FILE", "file to write [" CONFIG_DEFAULT_PATH "]"),
    OPTION_TEXT(struct setup_options, answers, "answers", "FILE",
                "take answers from lines `NAME = ANSWER`, and defaults for all else, in place of asking"),
    OPTION_SWITCH(struct setup_options, force, "force", "replace the configuration of a service in production"),
};

/* ---- the questions ---- */

enum question_id {
    Q_PUBLIC_URL,
    Q_HTTPS,
    Q_SIP,
    Q_CERTIFICATE,
    Q_KEY,
    Q_MAIL_URL,
    Q_MAIL_FROM,
    Q_MAIL_USER,
    Q_MAIL_PASSWORD,
    Q_CALLERS,
    Q_PBX,
    Q_PBX_USER,
    Q_PBX_PASSWORD,
    Q_NUMBERS,
    Q_PLAN,
    Q_DATA_DIR,
    Q_METRICS,
    QUESTIONS
};

#define ALWAYS (-1)

/* A question: its answer is the value of a key, and is checked like it. */
static const struct question {
    const char *name; /* in a file of answers */
    const char *ask;
    const char *section, *key; /* section "peer": of voice.peer.pbx; NULL: of no key */
    const char *dflt;          /* %s: the host of public_url; NULL: an answer is required */
    int after;                 /* asked only if that one has an answer; ALWAYS */
    bool secret;               /* kept in a file of that name */
} questions[QUESTIONS] = {
    [Q_PUBLIC_URL] = {"public_url", "Address of the website and the API", "top", "public_url", "https://%s:8443",
                      ALWAYS, false},
    [Q_HTTPS] = {"https", "Address and port for HTTPS", "listen", "https", "0.0.0.0:8443", ALWAYS, false},
    [Q_SIP] = {"sip", "Address and port for SIP", "listen", "sip", "0.0.0.0:5060", ALWAYS, false},
    [Q_CERTIFICATE] = {"certificate", "File of the TLS certificate chain, or `" SELF_SIGNED "`", "tls", "certificate",
                       SELF_SIGNED, ALWAYS, false},
    [Q_KEY] = {"key", "File of its private key", "tls", "key", NULL, Q_CERTIFICATE, false},
    [Q_MAIL_URL] = {"mail_url", "Mail server", "mail", "url", "smtp://localhost:25", ALWAYS, false},
    [Q_MAIL_FROM] = {"mail_from", "Sender of e-mail", "mail", "from", "Portero <portero@%s>", ALWAYS, false},
    [Q_MAIL_USER] = {"mail_user", "User at the mail server, if it asks for one", "mail", "user", "", ALWAYS, false},
    [Q_MAIL_PASSWORD] = {"mail_password", "Password at the mail server", "mail", "password", NULL, Q_MAIL_USER, true},
    [Q_CALLERS] = {"callers", "Addresses of call boxes that may call, separated by commas", "voice", "peers", "",
                   ALWAYS, false},
    [Q_PBX] = {"pbx", "SIP address of the PBX or provider that takes calls to residents, if there is one", "peer",
               "server", "", ALWAYS, false},
    [Q_PBX_USER] = {"pbx_user", "User at the PBX, if it asks for one", "peer", "user", "", Q_PBX, false},
    [Q_PBX_PASSWORD] = {"pbx_password", "Password at the PBX", "peer", "password", NULL, Q_PBX_USER, true},
    [Q_NUMBERS] = {"numbers", "Numbers or extensions that the call boxes dial, separated by commas", NULL, NULL, "",
                   ALWAYS, false},
    [Q_PLAN] = {"plan", "Plan that accounts have", "billing", "free_plan", "weekly", ALWAYS, false},
    [Q_DATA_DIR] = {"data_dir", "Directory of the data", "top", "data_dir", "/var/lib/portero", ALWAYS, false},
    [Q_METRICS] = {"metrics", "Address and port for metrics; empty: off", "listen", "metrics", "", ALWAYS, false},
};

struct setup {
    const struct setup_options *options;
    struct arena arena;
    const char *path;
    char *directory;  /* of the path */
    char host[256];   /* of public_url; before it is known, this machine's name */
    struct str given; /* the file of answers */
    bool interactive; /* somebody sits at a terminal */
    const char *answers[QUESTIONS];
};

static const struct config_row *row_of(const struct question *q)
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

/* The reason why it cannot be the answer, in `rule`; false if it can. */
static bool is_wrong_answer(struct setup *s, const struct question *q, const char *text,
                            char rule[static CONFIG_RULE_MAX])
{
    const struct config_row *row = row_of(q);
    union {
        struct config config;
        struct config_peer peer;
    } *scratch = arena_alloc(&s->arena, sizeof *scratch);
    memset(scratch, 0, sizeof *scratch);
    rule[0] = '\0';
    if (!*text && !q->dflt)
        snprintf(rule, CONFIG_RULE_MAX, "must not be empty");
    else if (!q->secret && strpbrk(text, "\"\\$\n\r"))
        snprintf(rule, CONFIG_RULE_MAX, "must not contain quotation marks, backslashes or dollar signs");
    else if (q == &questions[Q_NUMBERS] && *text && !are_numbers(text))
        snprintf(rule, CONFIG_RULE_MAX, "must be numbers like +15550100000, or extensions of 2 to 15 digits");
    else if (row && !q->secret && !(q == &questions[Q_CERTIFICATE] && strcmp(text, SELF_SIGNED) == 0))
        (void)config_set(row, text, &s->arena, scratch, rule);
    return *rule;
}

/* ---- asking ---- */

static const char *default_of(struct setup *s, const struct question *q)
{
    if (!q->dflt)
        return NULL;
    const char *mark = strstr(q->dflt, "%s");
    return mark ? arena_printf(&s->arena, "%.*s%s%s", (int)(mark - q->dflt), q->dflt, s->host, mark + 2).p : q->dflt;
}

/* The answer in the file; NULL: the file has none. */
static const char *given_answer(struct setup *s, const struct question *q)
{
    for (struct str rest = s->given, line, value; rest.p;) {
        line = str_cut(rest, '\n', &rest);
        struct str name = str_trim(str_cut(line, '=', &value));
        if (value.p && str_eq(name, str_z(q->name)))
            return arena_str(&s->arena, str_trim(value)).p;
    }
    return NULL;
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

/* A password is not shown as it is typed. */
static void echo(bool on)
{
    struct termios t;
    if (tcgetattr(STDIN_FILENO, &t))
        return;
    t.c_lflag = on ? t.c_lflag | (tcflag_t)ECHO : t.c_lflag & ~(tcflag_t)ECHO;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &t);
}

static const char *ask(struct setup *s, const struct question *q, const char *dflt)
{
    if (s->options->answers)
        return given_answer(s, q);
    if (s->interactive)
        printf("%s%s%s%s: ", q->ask, dflt && *dflt ? " [" : "", dflt ? dflt : "", dflt && *dflt ? "]" : "");
    fflush(stdout);
    if (!s->interactive || !q->secret)
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
    const struct question *q = &questions[i];
    const char *dflt = default_of(s, q), *text;
    char rule[CONFIG_RULE_MAX];
    for (;;) {
        text = ask(s, q, dflt);
        const bool ended = !text;
        if (!text || !*text)
            text = dflt ? dflt : "";
        if (!is_wrong_answer(s, q, text, rule))
            break;
        complain("%s %s", q->name, rule);
        if (!s->interactive || ended)
            return false;
    }
    s->answers[i] = text;
    return true;
}

static bool is_self_signed(const struct setup *s)
{
    return strcmp(s->answers[Q_CERTIFICATE], SELF_SIGNED) == 0;
}

static void take_host(struct setup *s)
{
    const char *from = strstr(s->answers[Q_PUBLIC_URL], "://") + 3;
    snprintf(s->host, sizeof s->host, "%.*s", (int)strcspn(from, ":/"), from);
}

static bool answer_all(struct setup *s)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const int after = questions[i].after;
        s->answers[i] = "";
        if (after != ALWAYS && (!*s->answers[after] || (i == Q_KEY && is_self_signed(s))))
            continue;
        if (!answer_one(s, i))
            return false;
        if (i == Q_PUBLIC_URL)
            take_host(s);
    }
    return true;
}

/* ---- files ---- */

/* Gives a file of the service's to its user: `group` for the configuration, which the service only reads. */
static bool hand_over(int fd, bool group)
{
    struct setup_user u;
    return geteuid() != 0 || !setup_user(SERVICE, &u) || fchown(fd, group ? 0 : u.uid, u.gid) == 0;
}

static bool write_file(const char *path, const char *text, size_t n, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    bool written = fd >= 0 && fchmod(fd, mode) == 0 && hand_over(fd, mode & 040) && write(fd, text, n) == (ssize_t)n &&
                   fsync(fd) == 0;
    if (fd >= 0 && close(fd))
        written = false;
    if (!written)
        complain("%s: %s", path, strerror(errno));
    return written;
}

static const char *path_of(struct setup *s, const char *name)
{
    return arena_printf(&s->arena, "%s/%s", s->directory, name).p;
}

/* An existing key is kept: what the store has sealed with it could not be opened without it. */
static bool make_master_key(struct setup *s)
{
    const char *path = path_of(s, "master.key");
    unsigned char key[SHA256_LEN];
    char text[2 * SHA256_LEN + 2];
    if (access(path, F_OK) == 0) {
        printf("kept     %s\n", path);
        return true;
    }
    crypto_random(key, sizeof key);
    hex_encode(key, sizeof key, text);
    text[2 * SHA256_LEN] = '\n';
    const bool written = write_file(path, text, sizeof text - 1, 0600);
    crypto_wipe(key, sizeof key);
    crypto_wipe(text, sizeof text);
    if (written)
        printf("written  %s: keep a copy elsewhere, without it a backup cannot be used\n", path);
    return written;
}

static bool make_certificate(struct setup *s)
{
    const char *certificate = path_of(s, "tls.pem"), *key = path_of(s, "tls.key");
    if (!is_self_signed(s))
        return true;
    if (access(certificate, F_OK) || access(key, F_OK)) {
        if (tls_self_signed_for(s->host, certificate, key)) {
            complain("%s: cannot be written", certificate);
            return false;
        }
        const int fd = open(key, O_RDONLY | O_CLOEXEC);
        const bool given = fd >= 0 && hand_over(fd, false);
        if (fd >= 0)
            close(fd);
        if (!given)
            return false;
        printf("written  %s and %s\n", certificate, key);
    }
    s->answers[Q_CERTIFICATE] = certificate;
    s->answers[Q_KEY] = key;
    return true;
}

static bool make_secrets(struct setup *s)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const struct question *q = &questions[i];
        if (!q->secret || !*s->answers[i])
            continue;
        const char *path = path_of(s, q->name);
        if (!write_file(path, s->answers[i], strlen(s->answers[i]), 0600))
            return false;
        s->answers[i] = arena_printf(&s->arena, "file:%s", path).p;
        printf("written  %s\n", path);
    }
    return true;
}

/* ---- the configuration ---- */

static void put_value(struct buf *out, const struct config_row *row, const char *text)
{
    if (row->kind != CONFIG_CIDRS) {
        buf_printf(out, "\"%s\"", text);
        return;
    }
    const char *separator = "";
    buf_char(out, '{');
    for (struct str rest = str_z(text), one; rest.p; separator = ", ") {
        one = str_trim(str_cut(rest, ',', &rest));
        buf_printf(out, "%s\"%.*s\"", separator, STR_ARG(one));
    }
    buf_char(out, '}');
}

static void put_answers(struct buf *out, const struct setup *s, const char *section, const char *indent)
{
    for (int i = 0; i < QUESTIONS; i++) {
        const struct question *q = &questions[i];
        if (!q->section || strcmp(q->section, section) != 0 || !*s->answers[i])
            continue;
        buf_printf(out, "%s%s = ", indent, q->key);
        put_value(out, row_of(q), s->answers[i]);
        buf_char(out, '\n');
    }
}

static void put_section(struct buf *out, const struct setup *s, const char *section, const char *fixed)
{
    buf_printf(out, "\n%s {\n%s", section, fixed);
    put_answers(out, s, section, "    ");
    if (strcmp(section, "voice") == 0 && *s->answers[Q_PBX]) {
        buf_str(out, STR("    peer pbx {\n"));
        put_answers(out, s, "peer", "        ");
        if (*s->answers[Q_PBX_USER])
            buf_str(out, STR("        register = true\n"));
        buf_str(out, STR("    }\n"));
    }
    buf_str(out, STR("}\n"));
}

static void compose(struct setup *s, struct buf *out)
{
    buf_str(
        out,
        STR("# Written by `portero setup`. portero.conf(5) has all keys; check changes with `portero check-config`.\n"
            "mode = production\n"));
    put_answers(out, s, "top", "");
    put_section(out, s, "listen", "    http = \"\"\n");
    put_section(out, s, "tls", "");
    put_section(out, s, "secrets",
                arena_printf(&s->arena, "    master_key = \"file:%s\"\n", path_of(s, "master.key")).p);
    put_section(out, s, "mail", "    provider = smtp\n");
    put_section(out, s, "voice", "");
    put_section(out, s, "billing", "    provider = none\n");
    put_section(out, s, "numbers", "    provider = pool\n");
    put_section(out, s, "sms", *s->answers[Q_PBX] ? "    provider = call\n" : "    provider = none\n");
}

/* A configuration in use must not be lost by mistake; that of the package is not one. */
static bool may_replace(const struct setup *s)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX);
    if (s->options->force || access(s->path, F_OK))
        return true;
    struct config *c = config_read(s->path, NULL, 0, &faults);
    const bool sandbox = c && !c->production && !faults.n;
    buf_done(&faults);
    config_free(c);
    if (!sandbox)
        complain("%s exists; --force replaces it", s->path);
    return sandbox;
}

/* Writes the configuration next to its place, checks it as the service would, and puts it in place. */
static struct config *write_configuration(struct setup *s)
{
    const char *fresh = arena_printf(&s->arena, "%s.new", s->path).p,
               *old = arena_printf(&s->arena, "%s.old", s->path).p;
    struct buf text = BUF(FILE_MAX);
    struct config *c = NULL;
    char *why = NULL;
    compose(s, &text);
    bool written = write_file(fresh, text.p, text.n, 0640);
    buf_done(&text);
    if (written && checks_load(fresh, NULL, 0, &c, &why)) {
        complain_lines(why);
        free(why);
        written = false;
    }
    if (written && rename(s->path, old) && errno != ENOENT)
        written = false;
    if (written && rename(fresh, s->path) == 0) {
        printf("written  %s\n", s->path);
        return c;
    }
    unlink(fresh);
    config_free(c);
    return NULL;
}

/* ---- the command ---- */

static void report(enum setup_result r, const char *what, const char *text)
{
    static const char *const results[] = {[SETUP_OK] = "ok", [SETUP_WARNING] = "warning", [SETUP_FAILED] = "failed"};
    printf("%-8s %s: %s\n", results[r], what, text);
}

static void print_next(const struct setup *s)
{
    printf("\nNow start the service:\n    systemctl enable --now portero\n");
    if (*s->answers[Q_NUMBERS])
        printf("and add the numbers, for buildings to get them:\n");
    for (struct str rest = str_z(s->answers[Q_NUMBERS]), one; rest.n;) {
        one = str_trim(str_cut(rest, ',', &rest));
        printf("    portero admin number add %.*s\n", STR_ARG(one));
    }
    printf("Residents sign in at %s/\n", s->answers[Q_PUBLIC_URL]);
}

static bool read_given(struct setup *s)
{
    const char *path = s->options->answers;
    if (!path)
        return true;
    FILE *f = fopen(path, "re");
    char *text = arena_alloc(&s->arena, ANSWERS_MAX);
    const size_t n = f ? fread(text, 1, ANSWERS_MAX, f) : 0;
    const bool whole = f && !ferror(f) && n < ANSWERS_MAX;
    if (!whole)
        complain("%s: %s", path, f ? "too large, or cannot be read" : strerror(errno));
    if (f)
        fclose(f);
    s->given = str_n(text, n);
    return whole;
}

/* Fails for a line that answers no question: a misspelt one would have no effect. */
static bool check_given(const struct setup *s)
{
    for (struct str rest = s->given, line, value; rest.p;) {
        line = str_trim(str_cut(rest, '\n', &rest));
        struct str name = str_trim(str_cut(line, '=', &value));
        int i = 0;
        while (i < QUESTIONS && !str_eq(name, str_z(questions[i].name)))
            i++;
        if (line.n && *line.p != '#' && (!value.p || i == QUESTIONS)) {
            complain("%s: no question is called `%.*s`", s->options->answers, STR_ARG(name));
            return false;
        }
    }
    return true;
}

static void find_host(struct setup *s)
{
    struct addrinfo *all = NULL;
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME};
    char name[256] = "localhost";
    (void)gethostname(name, sizeof name - 1);
    const bool found = getaddrinfo(name, NULL, &hints, &all) == 0;
    snprintf(s->host, sizeof s->host, "%s", found && all->ai_canonname ? all->ai_canonname : name);
    if (found)
        freeaddrinfo(all);
}

static int set_up(struct setup *s)
{
    if (!read_given(s) || !check_given(s) || !may_replace(s))
        return EXIT_USAGE;
    find_host(s);
    if (!answer_all(s))
        return EXIT_USAGE;
    if (mkdir(s->directory, 0755) && errno != EEXIST) {
        complain("%s: %s", s->directory, strerror(errno));
        return EXIT_FAILED;
    }
    if (!make_master_key(s) || !make_certificate(s) || !make_secrets(s))
        return EXIT_FAILED;
    struct config *c = write_configuration(s);
    if (!c)
        return EXIT_USAGE;
    struct setup_user u;
    const char *user = geteuid() == 0 && setup_user(SERVICE, &u) ? SERVICE : NULL;
    fflush(stdout);
    const enum setup_result worst = setup_check(c, user, report);
    config_free(c);
    print_next(s);
    return worst == SETUP_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int setup_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct setup_options *o = given;
    struct setup s = {.options = o,
                      .path = o->config ? o->config : CONFIG_DEFAULT_PATH,
                      .interactive = isatty(STDIN_FILENO) && !o->answers};
    arena_init(&s.arena, NULL, 0);
    const char *slash = strrchr(s.path, '/');
    char *directory = mem_strndup(slash ? s.path : ".", slash ? (size_t)(slash - s.path) : 1);
    s.directory = realpath(directory, NULL);
    if (!s.directory)
        s.directory = mem_strndup(directory, strlen(directory));
    const int result = set_up(&s);
    free(s.directory);
    free(directory);
    arena_done(&s.arena);
    return result;
}

const struct command command_setup = {
    .name = "setup",
    .summary = "Ask for the settings of a service without outside accounts, and write its configuration",
    COMMAND_OPTIONS(struct setup_options, rows),
    .run = setup_run,
};
