/* `porterod setup` without a terminal: what is wrong with an answer, what answers make of a configuration, and files of
 * answers. */
#include "cli/setup.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/unit.h"

static char directory[] = "/tmp/portero-setup-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && setenv("PASSWORD_OF_TEST", "x", 1) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static const char *path_of(struct setup *s, const char *name)
{
    return arena_printf(&s->arena, "%s/%s", directory, name).p;
}

/* A setup of the configuration in the directory; `text`: what it has, NULL: there is none. */
static void begin(struct setup *s, const char *text)
{
    *s = (struct setup){.directory = directory, .host = "door.example.com", .port = 8443};
    arena_init(&s->arena, NULL, 0);
    s->path = path_of(s, "portero.conf");
    s->data_dir = path_of(s, "data");
    if (text) {
        FILE *file = fopen(s->path, "we");
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

/* ---- one answer ---- */

static const struct {
    int question;
    const char *given, *complaint; /* its beginning; NULL: none */
} judged[] = {
    {Q_PUBLIC_URL, "https://door.example.com:8443", NULL},
    {Q_PUBLIC_URL, "http://door.example.com", "public_url must begin with https"},
    {Q_PUBLIC_URL, "door", "public_url must"},
    {Q_HTTPS, "127.0.0.1:0", NULL},
    {Q_HTTPS, "192.0.2.1:8443", "https: cannot listen on 192.0.2.1:8443"},
    {Q_SIP, "127.0.0.1:0", NULL},
    {Q_SIP, "here", "sip must"},
    {Q_CERTIFICATE, SETUP_SELF_SIGNED, NULL},
    {Q_CERTIFICATE, "/nonexistent.pem", "certificate"},
    {Q_KEY, "", "key must not be empty"},
    {Q_MAIL_URL, "smtp://localhost:25", NULL},
    {Q_MAIL_URL, "localhost", "mail_url must"},
    {Q_MAIL_PASSWORD, "", "mail_password must not be empty"},
    {Q_MAIL_FROM, "Door <door@example.com>", NULL},
    {Q_CALLERS, "", NULL},
    {Q_CALLERS, "10.0.0.7, 192.0.2.0/24", NULL},
    {Q_CALLERS, "the box in the hall", "callers must be a list of CIDR blocks"},
    {Q_CALLERS, "10.0.0.0/33", "callers must be a list of CIDR blocks"},
    {Q_RESIDENTS, "ada@example.com, bob@example.com", NULL},
    {Q_RESIDENTS, "ada, bob", "residents must be e-mail addresses"},
    {Q_NUMBERS, "4711, +15550100000", NULL},
    {Q_NUMBERS, "4", "numbers must be like"},
    {Q_NUMBERS, "the door", "numbers must be like"},
    {Q_PBX, "", NULL},
    {Q_STORE, SETUP_SQLITE, NULL},
    {Q_STORE, "host=/tmp dbname=portero", NULL},
    {Q_STORE, "a b", "store_dsn is not a valid libpq connection string"},
    {Q_NUMBERS, "4711\x1b[2J", "numbers must be UTF-8 without control characters"},
    {Q_NUMBERS, "\xff", "numbers must be UTF-8 without control characters"},
};

static void a_wrong_answer_is_told_at_its_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(judged); i++) {
        struct setup s;
        begin(&s, NULL);
        const char *got = setup_complaint(&s, judged[i].question, str_z(judged[i].given)), *want = judged[i].complaint;
        if (!got != !want || (want && strncmp(got, want, strlen(want)) != 0))
            fail_msg("%s = %s: %s", setup_rows[judged[i].question].name, judged[i].given, got ? got : "no complaint");
        end(&s);
    }
}

static void an_answer_has_a_longest_form(void **state)
{
    (void)state;
    char text[SETUP_ANSWER_MAX + 1];
    struct setup s;
    memset(text, '4', sizeof text);
    begin(&s, NULL);
    assert_string_equal(setup_complaint(&s, Q_NUMBERS, str_n(text, sizeof text)),
                        "numbers must be at most 1000 bytes long");
    end(&s);
}

/* ---- a file of answers ---- */

/* Takes the file's answers; false if one is refused. */
static bool answer(struct setup *s, const char *text)
{
    s->answers_path = path_of(s, "answers");
    FILE *file = fopen(s->answers_path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    const bool taken = setup_read_answers(s) && setup_ask(s);
    unlink(s->answers_path);
    return taken;
}

#define NEEDED                                                                                                         \
    "https = 127.0.0.1:0\nsip = 127.0.0.1:0\npublic_url = https://door.example.com\nmail_from = door@example.com\n"

static const struct {
    const char *answers;
    bool taken;
    const char *has, *lacks; /* of the configuration's text */
} files[] = {
    {NEEDED, true, "public_url = \"https://door.example.com\"", "password"},
    {NEEDED, true, "mode = production", "peer"},
    {NEEDED, true, "retention {\n    activity_days = 400\n    grants_days = 400\n}\n", NULL},
    {NEEDED "# a comment\n\ncallers = 10.0.0.7, 10.0.0.8\n", true, "peers = {\"10.0.0.7\", \"10.0.0.8\"}", NULL},
    {NEEDED "mail_user = ada\nmail_password = env:PASSWORD_OF_TEST\n", true, "password = \"env:PASSWORD_OF_TEST\"",
     NULL},
    {NEEDED "mail_user = ada\nmail_password = secret\n", true, "mail_password\"", "secret\""},
    {NEEDED "pbx = 127.0.0.1\n", true, "provider = call", "register"},
    {NEEDED "pbx = 127.0.0.1\npbx_user = door\npbx_password = env:PASSWORD_OF_TEST\n", true, "register = true", NULL},
    {NEEDED "store_dsn = host=/tmp dbname=portero\n", true, "engine = postgresql", "dbname=portero"},
    {NEEDED "mail_user = ada\n", false, NULL, NULL}, /* without its password */
    {NEEDED "colour = red\n", false, NULL, NULL},
    {NEEDED "callers\n", false, NULL, NULL},
    {NEEDED "callers = hall\n", false, NULL, NULL},
    {NEEDED "residents = bob\n", false, NULL, NULL},
};

static void a_file_of_answers_becomes_a_configuration_without_secrets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct setup s;
        begin(&s, NULL);
        if (answer(&s, files[i].answers) != files[i].taken)
            fail_msg("%s: not %d", files[i].answers, files[i].taken);
        const struct str text = files[i].taken ? setup_text(&s, true) : STR("");
        if (files[i].has && !memmem(text.p, text.n, files[i].has, strlen(files[i].has)))
            fail_msg("%s: lacks %s: %.*s", files[i].answers, files[i].has, STR_ARG(text));
        if (files[i].lacks && memmem(text.p, text.n, files[i].lacks, strlen(files[i].lacks)))
            fail_msg("%s: has %s: %.*s", files[i].answers, files[i].lacks, STR_ARG(text));
        end(&s);
    }
}

/* The store may be there already, with a log of years. */
static void a_configuration_that_replaces_another_keeps_the_log_for_ever(void **state)
{
    (void)state;
    struct setup s = {.directory = directory, .host = "door.example.com", .port = 8443};
    arena_init(&s.arena, NULL, 0);
    s.path = path_of(&s, "portero.conf");
    s.data_dir = path_of(&s, "data");
    assert_true(setup_begin(&s, true));
    assert_true(answer(&s, NEEDED));
    const struct str text = setup_text(&s, true);
    assert_non_null(memmem(text.p, text.n, "sms {", 5));
    assert_null(memmem(text.p, text.n, "_days", 5));
    end(&s);
}

static void an_answer_that_is_not_given_is_the_default(void **state)
{
    (void)state;
    struct setup s;
    begin(&s, NULL);
    assert_true(answer(&s, NEEDED));
    assert_string_equal(s.answers[Q_STORE], SETUP_SQLITE);
    assert_string_equal(s.answers[Q_CERTIFICATE], SETUP_SELF_SIGNED);
    assert_string_equal(s.answers[Q_MAIL_URL], "smtp://localhost:25");
    assert_string_equal(s.answers[Q_CALLERS], "");
    assert_false(setup_is_asked(&s, Q_KEY));
    assert_false(setup_is_asked(&s, Q_PBX_USER));
    end(&s);
}

/* ---- a configuration that is there ---- */

static const char present[] = "# mine\n"
                              "mode = production\n"
                              "public_url = \"https://old.example.com\"\n"
                              "listen { https = \"127.0.0.1:0\"\n sip = \"127.0.0.1:0\"\n http = \"\"\n }\n"
                              "tls { certificate = \"/nonexistent/a.pem\"\n key = \"/nonexistent/b.pem\"\n }\n"
                              "secrets { master_key = \"env:KEY_OF_TEST\"\n }\n"
                              "mail {\n    provider = smtp\n    url = \"smtp://mail.example.com\"\n"
                              "    from = \"a@example.com\" # the house\n}\n"
                              "billing { provider = none\n }\n"
                              "numbers { provider = pool\n }\n"
                              "sms { provider = none\n }\n";

static void an_answer_changes_its_key_and_leaves_everything_else(void **state)
{
    (void)state;
    struct setup s;
    setenv("KEY_OF_TEST", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 1);
    begin(&s, present);
    assert_false(s.fresh);
    s.data_dir = NULL;
    assert_string_equal(s.before[Q_PUBLIC_URL], "https://old.example.com");
    assert_string_equal(s.before[Q_MAIL_URL], "smtp://mail.example.com");
    s.answers[Q_MAIL_FROM] = "b@example.com";
    const struct str text = setup_text(&s, true);
    assert_non_null(
        memmem(text.p, text.n, "from = \"b@example.com\" # the house", strlen("from = \"b@example.com\" # the house")));
    assert_int_equal(text.n, strlen(present));
    end(&s);
}

static void a_sandbox_is_replaced_and_a_broken_configuration_is_not_touched(void **state)
{
    (void)state;
    struct setup s;
    begin(&s, "mode = sandbox\n");
    assert_true(s.fresh);
    end(&s);
    s = (struct setup){.directory = directory};
    arena_init(&s.arena, NULL, 0);
    s.path = path_of(&s, "portero.conf");
    FILE *file = fopen(s.path, "we");
    assert_non_null(file);
    fputs("mode = production\nno_such_key = 1\n", file);
    fclose(file);
    assert_false(setup_begin(&s, false));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_answer_is_told_at_its_question),
        cmocka_unit_test(an_answer_has_a_longest_form),
        cmocka_unit_test(a_file_of_answers_becomes_a_configuration_without_secrets),
        cmocka_unit_test(a_configuration_that_replaces_another_keeps_the_log_for_ever),
        cmocka_unit_test(an_answer_that_is_not_given_is_the_default),
        cmocka_unit_test(an_answer_changes_its_key_and_leaves_everything_else),
        cmocka_unit_test(a_sandbox_is_replaced_and_a_broken_configuration_is_not_touched),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
