/* portero login and portero logout: keep a key of a service, and give it back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "client/login_scopes.h"
#include "client/operation_answer.h"
#include "client/profile.h"
#include "client/program.h"
#include "client/remote.h"
#include "client/remote_certificate.h"

#define LINE_MAX_LEN     512
#define KEY_NAME_MAX_LEN 64
#define BLANKS           " \t\n\v\f\r"

struct login_options {
    const char *url, *email, *scopes, *profile, *ca_file;
    int64_t days;
};

/* ---- questions ---- */

/* The line that is typed, without blanks around it, in the arena; STR_NONE at the end of the input. */
static struct str login_ask(struct arena *a, const char *question)
{
    char line[LINE_MAX_LEN];
    terminal_print(stderr, "%s", question);
    fflush(stderr);
    if (!fgets(line, sizeof line, stdin)) {
        fputc('\n', stderr); /* an error gets a line of its own */
        return STR_NONE;
    }
    line[strcspn(line, "\r\n")] = '\0';
    const struct str typed = arena_str(a, str_trim(str_z(line)));
    crypto_wipe(line, sizeof line);
    return typed;
}

/* ---- the exchange ---- */

struct login {
    const struct login_options *given;
    struct remote remote;
    struct arena arena;
    struct str email, certificate, scopes;
};

/* Sends a body made by json_pack, which this frees, and reads the answer. Returns the exit status. */
static int exchange(struct login *l, const char *method, const char *path, json_t *body, json_t **ret)
{
    struct remote_answer answer;
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    const struct remote_call call = {.method = method, .path = path, .body = text ? str_z(text) : STR_NONE};
    int status = remote_send(&l->remote, &call, &l->arena, &answer);
    if (!status && (answer.status < 200 || answer.status > 299))
        status = operation_print_error(&l->remote, &answer, false);
    else if (!status && json_read(answer.body, ret)) {
        complain("the service responded without JSON");
        status = EXIT_FAILED;
    }
    free(text);
    json_decref(body);
    return status;
}

static const char *answer_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static int login_check_key(const json_t *answer, const char *name)
{
    if (*answer_text(answer, name))
        return EXIT_DONE;
    complain("the service responded without a key");
    return EXIT_FAILED;
}

static void set_key(struct login *l, const char *key)
{
    if (l->remote.key)
        crypto_wipe(l->remote.key, strlen(l->remote.key));
    free(l->remote.key);
    l->remote.key = key ? mem_strdup(key) : NULL;
}

/* The e-mail and the code for a website session, whose key then replaces the remote's. */
static int login_sign_in(struct login *l)
{
    json_t *sent = NULL, *session = NULL;
    int status = exchange(l, "POST", "/v1/auth/otp", json_pack("{s:s}", "email", l->email.p), &sent);
    if (status)
        return status;
    const struct str question = arena_printf(&l->arena, "The six digits from the e-mail to %s: ", l->email.p);
    const struct str code = login_ask(&l->arena, question.p);
    if (!code.n) {
        complain("no code was typed");
        status = EXIT_FAILED;
    } else {
        status = exchange(l, "POST", "/v1/auth/verify",
                          json_pack("{s:s,s:s,s:s,s:s}", "email", l->email.p, "purpose", "web", "challenge",
                                    answer_text(sent, "challenge"), "otp", code.p),
                          &session);
    }
    if (!status)
        status = login_check_key(session, "apiKey");
    if (!status)
        set_key(l, answer_text(session, "apiKey"));
    json_decref(session);
    json_decref(sent);
    return status;
}

static json_t *split_scopes(const char *text)
{
    json_t *words = json_array();
    for (struct str rest = str_z(text), word; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        json_array_append_new(words, json_stringn(word.p, word.n));
    }
    return words;
}

/* The scopes are chosen before a code is sent, so that a wrong one costs none. */
static int choose_scopes(struct login *l, const struct profile *earlier)
{
    struct str rest, word;
    const struct str all = login_all_scopes(&l->arena);
    const bool typed = !l->given->scopes && isatty(STDIN_FILENO);
    const char *usual = earlier->scopes ? earlier->scopes : typed ? LOGIN_SCOPES_TYPED : LOGIN_SCOPES;
    l->scopes = l->given->scopes ? str_z(l->given->scopes) : STR_NONE;
    if (typed) {
        fprintf(stderr, "Scopes of the key: %s\n", all.p);
        fputs("calls:listen lets it hear visitors at the door, and talk to them.\n", stderr);
        l->scopes = login_ask(&l->arena, arena_printf(&l->arena, "Separated by commas [%s]: ", usual).p);
    }
    if (!l->scopes.n && !l->given->scopes)
        l->scopes = str_z(usual);
    for (rest = l->scopes; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        if (!login_is_scope(word)) {
            complain("login: \"%.*s\" is not a scope of a key: %s", STR_ARG(word), all.p);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

/* Makes the agent's key with the session, which ends then. */
static int make_key(struct login *l, json_t **ret)
{
    char host[KEY_NAME_MAX_LEN] = "", *name;
    json_t *ended = NULL;
    (void)gethostname(host, sizeof host - 1);
    name = mem_printf("portero on %s", host);
    int status = exchange(l, "POST", "/v1/auth/keys",
                          json_pack("{s:s,s:o,s:I}", "name", name, "scopes", split_scopes(l->scopes.p),
                                    "expires_in_days", (json_int_t)l->given->days),
                          ret);
    free(name);
    if (!status)
        status = login_check_key(*ret, "api_key");
    /* The session ends, whether or not there is a key: the session's key is kept nowhere. */
    const int result = exchange(l, "DELETE", "/v1/auth/key", NULL, &ended);
    json_decref(ended);
    if (!status && result)
        complain("the session of the sign-in could not be ended; it ends by itself within 12 hours");
    return status;
}

/* Revokes the key that the profile had before. A failure is told and changes nothing. */
static void revoke_earlier(const char *profile)
{
    struct profile p;
    char *why = NULL;
    if (!profile_load(profile, &p, &why)) {
        struct remote r = {.url = p.url, .key = p.key, .ca_file = p.ca_file, .pin = p.pin};
        const struct remote_call call = {.method = "DELETE", .path = "/v1/auth/key", .repeatable = true};
        struct remote_answer answer;
        struct arena a;
        arena_init(&a, NULL, 0);
        if (remote_send(&r, &call, &a, &answer) || (answer.status != 200 && answer.status != 401))
            complain("the key of the earlier login could not be revoked");
        arena_done(&a);
        profile_done(&p);
    }
    free(why);
}

static char *without_blanks(struct arena *a, struct str scopes)
{
    char *text = arena_alloc(a, scopes.n + 1), *end = text;
    for (size_t i = 0; i < scopes.n; i++)
        if (!strchr(BLANKS, scopes.p[i]))
            *end++ = scopes.p[i];
    *end = '\0';
    return text;
}

static int keep_login(struct login *l, const json_t *made)
{
    char *why = NULL;
    char *key = mem_strdup(answer_text(made, "api_key"));
    const struct profile p = {.url = l->remote.url,
                              .key = key,
                              .email = (char *)(uintptr_t)l->email.p,
                              .scopes = without_blanks(&l->arena, l->scopes),
                              .pin = l->remote.pin};
    revoke_earlier(l->given->profile);
    const enum err e = profile_save(l->given->profile, &p, l->certificate, &why);
    if (e)
        complain("%s", why);
    else
        terminal_print(stdout, "Logged in to %s as %s until %s.", l->remote.url, l->email.p,
                       answer_text(made, "expires_at"));
    if (!e)
        putchar('\n');
    crypto_wipe(key, strlen(key));
    free(key);
    free(why);
    return e ? EXIT_FAILED : EXIT_DONE;
}

static int choose_email(struct login *l, const struct profile *earlier)
{
    const char *known = l->given->email ? l->given->email : earlier->email;
    l->email = known ? arena_str(&l->arena, str_z(known)) : login_ask(&l->arena, "E-mail address: ");
    if (l->email.n)
        return EXIT_DONE;
    complain("login: no e-mail address was given");
    return EXIT_USAGE;
}

static int login(struct login *l, const struct profile *earlier)
{
    json_t *made = NULL;
    int status =
        remote_trust(&l->remote, l->given->ca_file, earlier->ca_file, earlier->pin, &l->arena, &l->certificate);
    if (!status)
        status = choose_email(l, earlier);
    if (!status)
        status = choose_scopes(l, earlier);
    if (!status)
        status = login_sign_in(l);
    if (!status)
        status = make_key(l, &made);
    if (!status)
        status = keep_login(l, made);
    json_decref(made);
    return status;
}

static char *without_end_slashes(const char *url)
{
    size_t n = strlen(url);
    while (n > 1 && url[n - 1] == '/')
        n--;
    return mem_strndup(url, n);
}

/* The address, and what an earlier login of this name told, if it was for this address: so `portero login` alone
 * renews it. */
static void choose_address(struct login *l, struct profile *earlier)
{
    const char *variable = getenv(REMOTE_URL_VARIABLE);
    const char *given = l->given->url ? l->given->url : variable && *variable ? variable : NULL;
    char *why = NULL;
    if (profile_load(l->given->profile, earlier, &why))
        *earlier = (struct profile){0};
    free(why);
    l->remote.url = without_end_slashes(given ? given : earlier->url ? earlier->url : REMOTE_DEFAULT_URL);
    if (earlier->url && strcmp(earlier->url, l->remote.url) != 0) {
        profile_done(earlier);
        *earlier = (struct profile){0};
    }
}

static int login_run(const struct command *self, const void *given, struct arguments operands)
{
    const struct login_options *o = given;
    struct login l = {.given = o};
    struct profile earlier = {0};
    (void)operands;
    if (!profile_is_name(o->profile)) {
        complain("%s: --profile must be 1 to 32 letters, digits, - and _", self->name);
        return EXIT_USAGE;
    }
    choose_address(&l, &earlier);
    arena_init(&l.arena, NULL, 0);
    int status = EXIT_USAGE;
    if (remote_is_url(l.remote.url) && !curl_global_init(CURL_GLOBAL_DEFAULT))
        status = login(&l, &earlier);
    arena_done(&l.arena);
    remote_done(&l.remote);
    profile_done(&earlier);
    return status;
}

static const struct login_options login_defaults = {.profile = PROFILE_DEFAULT, .days = 30};

static const struct option_row login_rows[] = {
    OPTION_TEXT(struct login_options, url, "url", "URL",
                "address of the service [that of the login, or " REMOTE_DEFAULT_URL "]"),
    OPTION_TEXT(struct login_options, email, "email", "ADDRESS",
                "e-mail address of the account [that of the login, or asked for]"),
    OPTION_TEXT(struct login_options, scopes, "scopes", "A,B",
                "scopes of the key [those of the login, or " LOGIN_SCOPES
                "; at a terminal also setup:write, and asked for]"),
    OPTION_NUMBER(struct login_options, days, "days", "N", 1, 90, "days until the key expires [30]"),
    OPTION_TEXT(struct login_options, profile, "profile", "NAME", "name of this login, to have several [default]"),
    OPTION_TEXT(struct login_options, ca_file, "ca-file", "FILE", "certificate to trust besides the system's"),
};

const struct command command_login = {
    .name = "login",
    .summary = "Get a key for a service by e-mail, and keep it",
    COMMAND_OPTIONS(struct login_options, login_rows),
    .defaults = &login_defaults,
    .run = login_run,
};

/* ---- logout ---- */

struct logout_options {
    const char *profile;
    bool force;
};

/* Whether the key is revoked now, or was before. */
static int revoke_key(const struct profile *p)
{
    const struct remote r = {.url = p->url, .key = p->key, .ca_file = p->ca_file, .pin = p->pin};
    const struct remote_call call = {.method = "DELETE", .path = "/v1/auth/key", .repeatable = true};
    struct remote_answer answer;
    struct arena a;
    arena_init(&a, NULL, 0);
    int status = curl_global_init(CURL_GLOBAL_DEFAULT) ? EXIT_FAILED : remote_send(&r, &call, &a, &answer);
    if (!status && answer.status != 200 && answer.status != 401)
        status = operation_print_error(&r, &answer, false);
    arena_done(&a);
    return status;
}

static int logout_run(const struct command *self, const void *given, struct arguments operands)
{
    const struct logout_options *o = given;
    struct profile p;
    char *why = NULL;
    (void)self, (void)operands;
    enum err e = profile_is_name(o->profile) ? profile_load(o->profile, &p, &why) : ERR_NOT_FOUND;
    if (e) {
        complain("%s", why ? why : "there is no such login");
        free(why);
        return EXIT_NO_KEY;
    }
    int status = revoke_key(&p);
    if (status && !o->force)
        complain("the key was not revoked, and is kept; --force deletes it all the same");
    if (!status || o->force) {
        e = profile_remove(o->profile, &why);
        if (e)
            complain("%s", why);
        else
            printf("Logged out of %s.\n", p.url);
        status = e ? EXIT_FAILED : EXIT_DONE;
    }
    free(why);
    profile_done(&p);
    return status;
}

static const struct logout_options logout_defaults = {.profile = PROFILE_DEFAULT};

static const struct option_row logout_rows[] = {
    OPTION_TEXT(struct logout_options, profile, "profile", "NAME", "login to end [default]"),
    OPTION_SWITCH(struct logout_options, force, "force", "delete the key also if it cannot be revoked"),
};

const struct command command_logout = {
    .name = "logout",
    .summary = "Revoke the key of a login, and delete it",
    COMMAND_OPTIONS(struct logout_options, logout_rows),
    .defaults = &logout_defaults,
    .run = logout_run,
};
