/* `porterod setup` as somebody at a terminal answers it: what is asked, with which default, and what is taken of a
 * line. The terminal is a file of lines. */
#include "cli/setup.h"

#include <unistd.h>

#include "base/unit.h"
#include "client/typed.h"

static char directory[] = "/tmp/portero-setup-questions-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

#define NAME_MAX_LEN 128

/* A setup of a configuration in the directory; `text`: what it has, NULL: there is none. */
static void begin(struct setup *s, const char *text, char path[static NAME_MAX_LEN])
{
    *s = (struct setup){.directory = directory, .data_dir = text ? NULL : directory, .interactive = true};
    arena_init(&s->arena, NULL, 0);
    snprintf(path, NAME_MAX_LEN, "%s/portero.conf", directory);
    s->path = path;
    if (text) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    assert_true(setup_begin(s, false));
}

static void end(struct setup *s)
{
    unlink(s->path);
    config_free(s->present);
    arena_done(&s->arena);
}

/* Asks, with these lines on standard input. Returns whether all was answered. */
static bool answer(struct setup *s, const char *lines, size_t n, char out[static TYPED_MAX], char err[static TYPED_MAX])
{
    struct captured outs, errs;
    const int kept = dup(STDIN_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    fwrite(lines, 1, n, file);
    rewind(file);
    assert_true(dup2(fileno(file), STDIN_FILENO) >= 0);
    clearerr(stdin);
    capture(&outs, stdout);
    capture(&errs, stderr);
    const bool all = setup_ask(s);
    release(&errs, stderr, err);
    release(&outs, stdout, out);
    (void)fflush(stdin); /* drops what was read ahead */
    assert_true(dup2(kept, STDIN_FILENO) >= 0);
    close(kept);
    fclose(file);
    return all;
}

/* ---- a new configuration ---- */

#define URL "https://192.0.2.7\n"
#define SIP "127.0.0.1:0\n"
/* https has no question; its port follows the URL. */
#define BEGIN URL SIP

static const struct {
    const char *lines;
    int question;
    const char *taken;     /* its answer; NULL: the input ended before the last question */
    const char *complaint; /* all that is said on standard error */
} inputs[] = {
    {BEGIN "\n\n\n\n\n\n\n\n\n", Q_MAIL_URL, "smtp://localhost:25", ""},
    {BEGIN "\n\n\n\n\n\n\n\n\n", Q_MAIL_FROM, "Portero <portero@192.0.2.7>", ""},
    {BEGIN "\n\n\n\n\n\n\n\n\n", Q_STORE, "sqlite", ""},
    {BEGIN "\n  smtp://192.0.2.9:25 \t\r\n\n\n\n\n\n\n\n", Q_MAIL_URL, "smtp://192.0.2.9:25", ""},
    {BEGIN "\n\n\n\n192.0.2.0/24\n\n\n\n\n", Q_CALLERS, "192.0.2.0/24", ""},
    {BEGIN "\n\n\n\n-\n\n\n\n\n", Q_CALLERS, "", ""},
    /* the last line has no end */
    {BEGIN "\n\n\n\n\n\n\n\nsqlite", Q_STORE, "sqlite", ""},
    /* a password is asked for with a user, and must not be empty */
    {BEGIN "\n\nada\n\nx y\n\n\n\n\n\n\n", Q_MAIL_PASSWORD, "x y", "portero: mail_password must not be empty\n"},
    {BEGIN "\n\n\n\n\n\n+34600000000\n192.0.2.1\n\n\n\n", Q_DESTINATIONS, "+34, !+3480, !+3490", ""},
    {BEGIN "\n\n\n\n\n\n4711\n192.0.2.1\n\n\n\n", Q_DESTINATIONS, "", ""},
    /* asked again until it is right */
    {BEGIN "\n\n\n\nhall\n10.0.0.0/33\n10.0.0.7\n\n\n\n\n", Q_CALLERS, "10.0.0.7",
     "portero: callers must be a list of CIDR blocks, like 10.0.0.0/8\nportero: callers must be a list of CIDR blocks, "
     "like 10.0.0.0/8\n"},
    {BEGIN "\n\n\n\n\nada\nada@b.example\n\n\n\n", Q_RESIDENTS, "ada@b.example",
     "portero: residents must be e-mail addresses\n"},
    {BEGIN "\n\n\n\n\n\n47\x1b[2J11\n4711\n\n\n", Q_NUMBERS, "4711",
     "portero: numbers must be UTF-8 without control characters\n"},
    /* the input ends */
    {"", 0, NULL, "portero: the input ended before the last question; nothing was written\n"},
    {BEGIN "\n\n", 0, NULL, "portero: the input ended before the last question; nothing was written\n"},
    {BEGIN "\n\n\n\n\n\n4", 0, NULL,
     "portero: numbers must be like +15550100000, or extensions of 2 to 15 digits\n"
     "portero: the input ended before the last question; nothing was written\n"},
};

static void a_line_is_taken_trimmed_and_asked_for_until_it_is_right(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char path[NAME_MAX_LEN];
    (void)state;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        struct setup s;
        begin(&s, NULL, path);
        const bool all = answer(&s, inputs[i].lines, strlen(inputs[i].lines), out, err);
        if (all != !!inputs[i].taken || strcmp(err, inputs[i].complaint) != 0)
            fail_msg("%zu: %d\n%s\n%s", i, all, out, err);
        if (all)
            assert_string_equal(s.answers[inputs[i].question], inputs[i].taken);
        end(&s);
    }
}

static void a_line_that_is_too_long_is_one_answer(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX], lines[8000];
    static const char rest[] = "\n4711\n\n\n";
    char path[NAME_MAX_LEN];
    struct setup s;
    (void)state;
    size_t n = (size_t)snprintf(lines, sizeof lines, "%s", BEGIN "\n\n\n\n\n\n");
    memset(lines + n, '7', 5 * SETUP_ANSWER_MAX);
    memcpy(lines + n + 5 * SETUP_ANSWER_MAX, rest, sizeof rest);
    begin(&s, NULL, path);
    assert_true(answer(&s, lines, n + 5 * SETUP_ANSWER_MAX + strlen(rest), out, err));
    assert_string_equal(err, "portero: numbers must be at most 1000 bytes long\n");
    assert_string_equal(s.answers[Q_NUMBERS], "4711");
    end(&s);
}

/* ---- a configuration that is there ---- */

static const char present[] =
    "mode = production\n"
    "public_url = \"https://192.0.2.7\"\n"
    "listen { https = \"127.0.0.1:0\"\n sip = \"127.0.0.1:0\"\n http = \"\"\n }\n"
    "tls { certificate = \"/nonexistent/a.pem\"\n key = \"/nonexistent/b.pem\"\n }\n"
    "secrets { master_key = \"env:KEY_OF_TEST\"\n }\n"
    "mail { provider = smtp\n url = \"smtp://mail.example.com\"\n user = \"ada\"\n"
    " password = \"env:PASSWORD_OF_TEST\"\n from = \"a@b.example\"\n }\n"
    "voice { peers = {\"10.0.0.7\", \"10.0.0.8\"}\n }\n"
    "billing { provider = none\n }\nnumbers { provider = pool\n }\nsms { provider = none\n }\n";

static const char *const prompts[] = {
    "Address of the website and the API, as browsers will have it [https://192.0.2.7]: ",
    "User at the mail server, if it wants a login [ada]: ",
    "Password at the mail server [as before]: ",
    "IP addresses of the call boxes, separated by commas; empty: anybody may call [10.0.0.7, 10.0.0.8]: ",
};

static void a_question_shows_what_holds_now_but_no_secret(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    static const char lines[] = "\n\nself-signed\n\n\n\n\n\n\n\n\n\n\n";
    char path[NAME_MAX_LEN];
    struct setup s;
    (void)state;
    setenv("KEY_OF_TEST", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 1);
    setenv("PASSWORD_OF_TEST", "x", 1);
    begin(&s, present, path);
    (void)answer(&s, lines, strlen(lines), out, err);
    for (size_t i = 0; i < COUNT(prompts); i++)
        if (!strstr(out, prompts[i]))
            fail_msg("no %s in %s%s", prompts[i], out, err);
    assert_null(strstr(out, "PASSWORD_OF_TEST"));
    assert_non_null(strstr(out, "Enter keeps the answer in brackets, - removes it."));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_taken_trimmed_and_asked_for_until_it_is_right),
        cmocka_unit_test(a_line_that_is_too_long_is_one_answer),
        cmocka_unit_test(a_question_shows_what_holds_now_but_no_secret),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
