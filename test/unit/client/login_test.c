/* `portero login` and `portero logout` as they are typed: what is asked and sent, what is kept, and what is said. The
 * service is one that answers each path as the row says. */
#include "client/profile.h"
#include "client/program.h"
#include "net/receiver.h"

#include <sys/stat.h>

#include "base/unit.h"
#include "client/typed.h"

#define ANSWERS_MAX 5

static char directory[] = "/tmp/portero-login-XXXXXX";
static struct receiver *service;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next two */
static const char *const *answers;                       /* "STATUS BODY", in the order of the requests */
static char received[8192];                              /* a line for each request: method, path, key, body */
static char requests[8192];                              /* the same, of the command that has ended */

static bool answer_next(struct received *q, void *context)
{
    char text[2048];
    (void)context;
    pthread_mutex_lock(&lock);
    const struct str key = received_field(q, "\r\nAuthorization: Bearer ");
    const size_t n = strlen(received), line = strcspn(q->text, "\r") - strlen(" HTTP/1.1");
    snprintf(received + n, sizeof received - n, "%.*s %.*s %.*s\n", (int)line, q->text, STR_ARG(key.p ? key : STR("-")),
             STR_ARG(q->body));
    const char *answer = *answers ? *answers++ : "500 ";
    snprintf(text, sizeof text, "HTTP/1.1 %.3s x\r\nContent-Length: %zu\r\n\r\n%s", answer, strlen(answer + 4),
             answer + 4);
    pthread_mutex_unlock(&lock);
    return received_say(q, str_z(text));
}

static int open_service(void **state)
{
    (void)state;
    unsetenv("PORTERO_KEY");
    unsetenv("PORTERO_URL");
    service = receiver_open(false, answer_next, NULL);
    return !mkdtemp(directory) || setenv("XDG_CONFIG_HOME", directory, 1);
}

static int close_service(void **state)
{
    char path[64];
    (void)state;
    receiver_close(service);
    snprintf(path, sizeof path, "%s/portero", directory);
    return rmdir(path) || rmdir(directory);
}

/* Types the command with these lines on standard input. */
static int type_with(const char *words, const char *input, const char *const *rows, char out[static TYPED_MAX],
                     char err[static TYPED_MAX])
{
    const int kept = dup(STDIN_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(input, file);
    rewind(file);
    assert_true(dup2(fileno(file), STDIN_FILENO) >= 0);
    clearerr(stdin);
    pthread_mutex_lock(&lock);
    answers = rows;
    *received = '\0';
    pthread_mutex_unlock(&lock);
    const int status = typed(&client_program, words, out, err);
    pthread_mutex_lock(&lock);
    memcpy(requests, received, sizeof requests);
    pthread_mutex_unlock(&lock);
    (void)fflush(stdin);
    assert_true(dup2(kept, STDIN_FILENO) >= 0);
    close(kept);
    fclose(file);
    typed_replace(out, service->url, "URL");
    typed_replace(err, service->url, "URL");
    return status;
}

#define SENT       "200 {\"challenge\":\"c1\"}"
#define VERIFIED   "200 {\"apiKey\":\"svc_session\"}"
#define MADE       "201 {\"api_key\":\"svc_key\",\"expires_at\":\"2026-12-29T00:00:00Z\"}"
#define ENDED      "200 {}"
#define CODE_ASKED "The six digits from the e-mail to ada@b.example: "
#define OTP        "POST /v1/auth/otp - {\"email\":\"ada@b.example\"}\n"
#define VERIFY                                                                                                         \
    "POST /v1/auth/verify - "                                                                                          \
    "{\"email\":\"ada@b.example\",\"purpose\":\"web\",\"challenge\":\"c1\",\"otp\":\"123456\"}\n"
#define END_SESSION "DELETE /v1/auth/key svc_session \n"
#define REFUSED     "{\"error\":{\"code\":\"X\",\"message\":\"No.\"}}"

static const struct {
    const char *options, *input;
    const char *answers[ANSWERS_MAX];
    int status;
    const char *begins; /* the requests, up to the key's name */
    const char *ends;   /* the last request */
    const char *err;
} logins[] = {
    {"--email ada@b.example --scopes logs:read",
     "123456\n",
     {SENT, VERIFIED, MADE, ENDED},
     0,
     OTP VERIFY "POST /v1/auth/keys svc_session {\"name\":\"portero on ",
     END_SESSION,
     CODE_ASKED},
    {"--scopes logs:read",
     "  ada@b.example \r\n 123456 \n",
     {SENT, VERIFIED, MADE, ENDED},
     0,
     OTP VERIFY "POST /v1/auth/keys svc_session {\"name\":\"portero on ",
     END_SESSION,
     "E-mail address: " CODE_ASKED},
    /* nothing is sent */
    {"--scopes logs:read", "", {NULL}, 2, "", "", "E-mail address: \nportero: login: no e-mail address was given\n"},
    {"--email ada@b.example --scopes keys:write", "", {NULL}, 2, "", "", NULL},
    {"--email ada@b.example --scopes logs:read,", "", {NULL}, 2, "", "", NULL},
    {"--email ada@b.example --profile a/b",
     "",
     {NULL},
     2,
     "",
     "",
     "portero: login: --profile must be 1 to 32 letters, digits, - and _\n"},
    {"--email ada@b.example --days 91",
     "",
     {NULL},
     2,
     "",
     "",
     "portero: login: --days must be an integer from 1 to 90\n"},
    /* the code */
    {"--email ada@b.example", "\n", {SENT}, 1, OTP, OTP, CODE_ASKED "portero: no code was typed\n"},
    {"--email ada@b.example", "", {SENT}, 1, OTP, OTP, CODE_ASKED "\nportero: no code was typed\n"},
    {"--email ada@b.example",
     "123456\n",
     {SENT, "401 " REFUSED},
     3,
     OTP VERIFY,
     VERIFY,
     CODE_ASKED "portero: No. (X)\n"},
    {"--email ada@b.example", "123456\n", {"422 " REFUSED}, 1, OTP, OTP, "portero: No. (X)\n"},
    {"--email ada@b.example", "123456\n", {"200 <html>"}, 1, OTP, OTP, "portero: the service responded without JSON\n"},
    /* the session ends, whether or not there is a key */
    {"--email ada@b.example",
     "123456\n",
     {SENT, VERIFIED, "403 " REFUSED, ENDED},
     1,
     OTP VERIFY,
     END_SESSION,
     CODE_ASKED "portero: No. (X)\n"},
    {"--email ada@b.example",
     "123456\n",
     {SENT, VERIFIED, "201 {}", ENDED},
     1,
     OTP VERIFY,
     END_SESSION,
     CODE_ASKED "portero: the service responded without a key\n"},
    {"--email ada@b.example",
     "123456\n",
     {SENT, "200 {\"apiKey\":7}"},
     1,
     OTP VERIFY,
     VERIFY,
     CODE_ASKED "portero: the service responded without a key\n"},
};

static void a_login_asks_for_what_is_missing_and_ends_its_session(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char words[256], *why = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(logins); i++) {
        struct profile p;
        snprintf(words, sizeof words, "login --url %s/ %s", service->url, logins[i].options);
        const int status = type_with(words, logins[i].input, logins[i].answers, out, err);
        const size_t n = strlen(requests), ends = strlen(logins[i].ends);
        if (status != logins[i].status || strncmp(requests, logins[i].begins, strlen(logins[i].begins)) != 0 ||
            n < ends || strcmp(requests + n - ends, logins[i].ends) != 0 ||
            (logins[i].err && strcmp(err, logins[i].err) != 0))
            fail_msg("%s: exit %d\n%s%s\n%s", logins[i].options, status, out, err, requests);
        assert_null(strstr(out, "svc_"));
        assert_int_equal(profile_load("default", &p, &why), status ? ERR_NOT_FOUND : ERR_NONE);
        free(why);
        why = NULL;
        if (status)
            continue;
        assert_string_equal(p.url, service->url);
        assert_string_equal(p.key, "svc_key");
        assert_string_equal(p.email, "ada@b.example");
        assert_string_equal(p.scopes, "logs:read");
        profile_done(&p);
        assert_int_equal(profile_remove("default", &why), ERR_NONE);
    }
}

static const struct {
    const char *options, *answers[2];
    int status;
    bool kept;
    const char *out, *err;
} logouts[] = {
    {"", {"200 {}"}, 0, false, "Logged out of URL.\n", ""},
    {"", {"401 " REFUSED}, 0, false, "Logged out of URL.\n", ""}, /* it was revoked before */
    {"",
     {"403 " REFUSED},
     1,
     true,
     "",
     "portero: No. (X)\nportero: the key was not revoked, and is kept; --force deletes it all the same\n"},
    {"--force", {"403 " REFUSED}, 0, false, "Logged out of URL.\n", "portero: No. (X)\n"},
    {"--profile other", {NULL}, 3, true, "", NULL},
    {"--profile ../default", {NULL}, 3, true, "", "portero: there is no such login\n"},
};

static void a_logout_keeps_a_key_that_is_not_revoked(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char words[128], *why = NULL;
    const struct profile kept = {.url = service->url, .key = "svc_key", .email = ""};
    (void)state;
    for (size_t i = 0; i < COUNT(logouts); i++) {
        struct profile p;
        assert_int_equal(profile_save("default", &kept, STR_NONE, &why), ERR_NONE);
        snprintf(words, sizeof words, "logout %s", logouts[i].options);
        const int status = type_with(words, "", logouts[i].answers, out, err);
        if (status != logouts[i].status || strcmp(out, logouts[i].out) != 0 ||
            (logouts[i].err && strcmp(err, logouts[i].err) != 0))
            fail_msg("%s: exit %d\n%s%s", words, status, out, err);
        assert_string_equal(requests, *logouts[i].answers ? "DELETE /v1/auth/key svc_key \n" : "");
        const enum err e = profile_load("default", &p, &why);
        assert_int_equal(e, logouts[i].kept ? ERR_NONE : ERR_NOT_FOUND);
        if (!e)
            profile_done(&p);
        free(why);
        why = NULL;
        assert_int_equal(profile_remove("default", &why), ERR_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_login_asks_for_what_is_missing_and_ends_its_session),
        cmocka_unit_test(a_logout_keeps_a_key_that_is_not_revoked),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
