/* The commands of residents and agents as they are typed: what they send, print and return. The service is one that
 * answers as the row says. */
#include "client/program.h"
#include "net/receiver.h"

#include "base/unit.h"
#include "client/typed.h"

#define ID "6b018faceb9d0c2ba6000001"

struct row {
    const char *typed;
    const char *head, *body; /* of the answer: "200 OK" */
    const char *sent;        /* beginning of the request; NULL: none may be sent */
    const char *with;        /* part of the request; NULL: any */
    int status;
    const char *out, *err;
};

static char directory[] = "/tmp/portero-commands-XXXXXX";
static struct receiver *service;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these two */
static const struct row *row;
static char request[RECEIVED_MAX + 1];

static bool answer_row(struct received *q, void *context)
{
    char text[TYPED_MAX];
    (void)context;
    pthread_mutex_lock(&lock);
    memcpy(request, q->text, q->n + 1);
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", row->head, strlen(row->body),
             row->body);
    pthread_mutex_unlock(&lock);
    return received_say(q, str_z(text));
}

static int open_service(void **state)
{
    (void)state;
    service = receiver_open(false, answer_row, NULL);
    return !mkdtemp(directory) || setenv("XDG_CONFIG_HOME", directory, 1) || setenv("PORTERO_URL", service->url, 1) ||
           setenv("PORTERO_KEY", "svc_agent_secret", 1);
}

static int close_service(void **state)
{
    (void)state;
    receiver_close(service);
    return rmdir(directory);
}

static void check(const struct row *r)
{
    char out[TYPED_MAX], err[TYPED_MAX];
    pthread_mutex_lock(&lock);
    row = r;
    *request = '\0';
    pthread_mutex_unlock(&lock);
    const int status = typed(&client_program, r->typed, out, err);
    typed_replace(out, service->url, "URL");
    typed_replace(err, service->url, "URL");
    pthread_mutex_lock(&lock);
    const bool sent = r->sent ? strncmp(request, r->sent, strlen(r->sent)) == 0 : !*request;
    if (status != r->status || strcmp(out, r->out) != 0 || strcmp(err, r->err) != 0 || !sent ||
        (r->with && !strstr(request, r->with)))
        fail_msg("portero %s: exit %d\nout: %s\nerr: %s\nsent: %s", r->typed, status, out, err, request);
    pthread_mutex_unlock(&lock);
}

static void check_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}

#define ERROR(code, message, next)                                                                                     \
    "{\"error\":{\"code\":\"" code "\",\"message\":\"" message "\",\"next_action\":\"" next                            \
    "\"},\"requestId\":\"req_1\"}"

/* ---- answers ---- */

static const struct row answers[] = {
    {"account show", "200 OK", "{\"email\":\"ada@example.com\",\"subscription\":{\"status\":\"active\"}}",
     "GET /v1/account HTTP/1.1\r\n", "\r\nAuthorization: Bearer svc_agent_secret\r\n", 0,
     "email                ada@example.com\nsubscription.status  active\n", ""},
    {"account show --json", "200 OK", "{\"email\":\"ada@example.com\"}", "GET /v1/account ", NULL, 0,
     "{\"email\":\"ada@example.com\"}\n", ""},
    {"unlock list --status active --limit 1", "200 OK",
     "{\"data\":[{\"id\":\"" ID "\",\"type\":\"timer\",\"label\":\"Plumber\",\"version\":3}],"
     "\"pagination\":{\"has_more\":true}}",
     "GET /v1/unlock?", "status=active", 0, "id                        type   label\n" ID "  timer  Plumber\n",
     "There are more: --all reads all pages.\n"},
    {"unlock list", "200 OK", "{\"data\":[],\"pagination\":{\"has_more\":false}}", "GET /v1/unlock HTTP", NULL, 0,
     "none\n", ""},
    {"unlock show " ID, "200 OK", "{\"id\":\"" ID "\",\"remaining_uses\":null,\"days\":[\"monday\",\"friday\"]}",
     "GET /v1/unlock/" ID " HTTP", NULL, 0,
     "id              " ID "\nremaining_uses  -\ndays            monday,friday\n", ""},
    /* control characters do not reach the terminal */
    {"account show", "200 OK", "{\"na\\u001bme\":\"a\\u001b[2Jb\"}", "GET /v1/account ", NULL, 0, "na?me  a?[2Jb\n",
     ""},
    /* an answer that is only an address */
    {"service contract", "302 Found\r\nLocation: https://door.example.com/openapi.json", "", "GET /v1/openapi.json ",
     NULL, 0, "https://door.example.com/openapi.json\n", ""},
    {"account show", "302 Found\r\nLocation: https://evil.example/", "", "GET /v1/account ", NULL, 1, "",
     "portero: the service responded 302, which is not an answer of this interface\n"},
    {"account show", "200 OK", "<html>", "GET /v1/account ", NULL, 1, "",
     "portero: the service responded without JSON\n"},
};

static void answers_are_printed_for_people_or_as_they_are(void **state)
{
    (void)state;
    check_all(answers, COUNT(answers));
}

static const struct row refusals[] = {
    {"unlock show " ID, "404 Not Found", ERROR("NOT_FOUND", "The grant was not found.", "Read GET /v1/unlock."),
     "GET /v1/unlock/" ID, NULL, 1, "",
     "portero: The grant was not found. (NOT_FOUND)\nportero: next: Read `portero unlock list`.\nportero: request: "
     "req_1\n"},
    {"account show --json", "404 Not Found", ERROR("NOT_FOUND", "Gone.", ""), "GET ", NULL, 1,
     ERROR("NOT_FOUND", "Gone.", "") "\n", "portero: Gone. (NOT_FOUND)\nportero: request: req_1\n"},
    {"account show", "401 Unauthorized", ERROR("INVALID_KEY", "The key is not valid.", "Use another key."), "GET ",
     NULL, 3, "",
     "portero: The key is not valid. (INVALID_KEY)\nportero: next: Set PORTERO_KEY to a key that is valid.\n"
     "portero: request: req_1\n"},
    {"key list", "403 Forbidden", ERROR("WEB_SESSION_REQUIRED", "A session is needed.", "Sign in with an e-mail code."),
     "GET /v1/auth/keys ", NULL, 1, "",
     "portero: A session is needed. (WEB_SESSION_REQUIRED)\n"
     "portero: next: Sign in at URL with a browser: no key of a login may do this.\nportero: request: req_1\n"},
    {"plan list", "403 Forbidden",
     ERROR("INSUFFICIENT_SCOPE", "The key lacks the scope billing:write.", "Use a key with the scope."),
     "GET /v1/plans ", NULL, 1, "",
     "portero: The key lacks the scope billing:write. (INSUFFICIENT_SCOPE)\n"
     "portero: next: Set PORTERO_KEY to a key that has the scope billing:write.\nportero: request: req_1\n"},
    {"account show", "500 Internal Server Error", "broken", "GET ", NULL, 1, "",
     "portero: the service responded 500, which is not an answer of this interface\n"},
    /* longer than anybody waits */
    {"account show", "429 Too Many Requests\r\nRetry-After: 3600", ERROR("RATE_LIMITED", "Too many.", "Wait."), "GET ",
     NULL, 1, "", "portero: Too many. (RATE_LIMITED)\nportero: next: Wait.\nportero: request: req_1\n"},
    {"unlock create --type timer --minutes 5 --label Plumber", "422 Unprocessable Entity",
     ERROR("VALIDATION_ERROR", "No.", "Change it."), "POST /v1/unlock ", "\"expires_in_minutes\":5", 1, "",
     "portero: No. (VALIDATION_ERROR)\nportero: next: Change it.\nportero: request: req_1\n"},
    {"unlock create --type timer --minutes 5 --idempotency-key mine", "409 Conflict", ERROR("CONFLICT", "No.", ""),
     "POST /v1/unlock ", "\r\nIdempotency-Key: mine\r\n", 1, "", "portero: No. (CONFLICT)\nportero: request: req_1\n"},
    {"unlock update " ID " --label x --if-match 7", "412 Precondition Failed",
     ERROR("VERSION_CONFLICT", "Changed.", ""), "PATCH /v1/unlock/" ID " ", "\r\nIf-Match: ", 1, "",
     "portero: Changed. (VERSION_CONFLICT)\nportero: request: req_1\n"},
};

/* CLI-5, CLI-29 */
static void refusals_are_told_with_code_next_step_and_request(void **state)
{
    (void)state;
    check_all(refusals, COUNT(refusals));
}

/* ---- nothing is sent ---- */

#define UNSENT(words, says)                                                                                            \
    {                                                                                                                  \
        words, NULL, NULL, NULL, NULL, 2, "", "portero: " says "\n"                                                    \
    }

static const struct row mistakes[] = {
    UNSENT("", "no command given; see `portero help`"),
    UNSENT("dance", "unknown command: dance; see `portero help`"),
    UNSENT("help dance", "unknown command: dance; see `portero help`"),
    UNSENT("help login again", "help: unexpected argument again; see `portero help`"),
    UNSENT("unlock", "unlock: missing argument VERB …; see `portero unlock --help`"),
    UNSENT("unlock dance", "unknown command: unlock dance; see `portero unlock --help`"),
    UNSENT("unlock show", "unlock show: missing argument ID; see `portero unlock show --help`"),
    UNSENT("unlock show a b", "unlock show: unexpected argument b; see `portero unlock show --help`"),
    UNSENT("unlock list --colour red", "unlock list: unknown option --colour; see `portero unlock list --help`"),
    UNSENT("unlock list --limit", "unlock list: no value for --limit; see `portero unlock list --help`"),
    UNSENT("unlock create --type timer --minutes ten", "unlock create: --minutes must be an integer"),
    UNSENT("unlock create --type timer --enabled yes", "unlock create: --enabled must be true or false"),
    UNSENT("unlock create --body []", "unlock create: --body must be a JSON object, or @FILE with one"),
    UNSENT("account show --profile ../x", "--profile must be 1 to 32 letters, digits, - and _"),
};

static void mistakes_are_told_before_anything_is_sent(void **state)
{
    (void)state;
    check_all(mistakes, COUNT(mistakes));
}

static const struct row unsent[] = {
    {"account show --dry-run", NULL, NULL, NULL, NULL, 0,
     "curl --silent --show-error --globoff --request GET --header \"Authorization: Bearer $PORTERO_KEY\" "
     "'URL''/v1/account'\n",
     ""},
    {"--version", NULL, NULL, NULL, NULL, 0, "portero " PORTERO_VERSION "\n", ""},
};

static void a_request_can_be_shown_in_place_of_being_sent(void **state)
{
    (void)state;
    check_all(unsent, COUNT(unsent));
}

static void help_names_each_command_of_program_and_service(void **state)
{
    char out[TYPED_MAX], err[TYPED_MAX], line[64];
    const struct command *c;
    (void)state;
    assert_int_equal(typed(&client_program, "help", out, err), 0);
    for (size_t i = 0; (c = client_program.at(i)); i++) {
        snprintf(line, sizeof line, "\n  %s ", c->name);
        if (!strstr(out, line))
            fail_msg("the help lacks %s", c->name);
    }
    for (size_t i = 0; client_program.others[i]; i++)
        assert_non_null(strstr(out, client_program.others[i]));
    assert_string_equal(err, "");
    assert_int_equal(typed(&client_program, "unlock create --help", out, err), 0);
    assert_int_equal(
        strncmp(out, "Usage: portero unlock create [OPTION]…\n", strlen("Usage: portero unlock create [OPTION]…\n")),
        0);
    assert_non_null(strstr(out, "\n  --minutes "));
}

static void a_key_is_not_sent_without_protection(void **state)
{
    static const struct row unprotected =
        UNSENT("account show", "http://door.example.com is not a URL that protects the key: it must be https://HOST, "
                               "or http:// to this machine");
    (void)state;
    setenv("PORTERO_URL", "http://door.example.com", 1);
    check(&unprotected);
    setenv("PORTERO_URL", service->url, 1);
}

static void without_a_key_the_login_is_named(void **state)
{
    static const struct row missing = {
        "account show", NULL, NULL, NULL,
        NULL,           3,    "",   "portero: there is no key for URL: `portero login`, or set PORTERO_KEY\n"};
    (void)state;
    unsetenv("PORTERO_KEY");
    check(&missing);
    setenv("PORTERO_KEY", "svc_agent_secret", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_printed_for_people_or_as_they_are),
        cmocka_unit_test(refusals_are_told_with_code_next_step_and_request),
        cmocka_unit_test(mistakes_are_told_before_anything_is_sent),
        cmocka_unit_test(a_request_can_be_shown_in_place_of_being_sent),
        cmocka_unit_test(help_names_each_command_of_program_and_service),
        cmocka_unit_test(a_key_is_not_sent_without_protection),
        cmocka_unit_test(without_a_key_the_login_is_named),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
