/* `porterod setup` as it is typed: the files that it writes and takes back, and the commands that it prints
 * to be typed next. No mail server is there, so the checks at its end fail, and its exit status is 1. */
#include "cli/program.h"
#include "cli/setup.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unit.h"
#include "client/typed.h"

static char directory[] = "/tmp/portero-setup-command-XXXXXX";
static char out[TYPED_MAX], err[TYPED_MAX];

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

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Each file that may be in it, a directory after its files. */
static const char *const names[] = {"answers",
                                    "portero.conf",
                                    "portero.conf.old",
                                    "portero.conf.new",
                                    "master.key",
                                    "master.key.new",
                                    "tls.pem",
                                    "tls.key",
                                    "mail_password",
                                    "mail_password.new",
                                    "data",
                                    "a&b/portero.conf",
                                    "a&b/master.key",
                                    "a&b/tls.pem",
                                    "a&b/tls.key",
                                    "a&b"};

static void remove_all(void)
{
    for (size_t i = 0; i < COUNT(names); i++)
        (void)remove(path_of(names[i]));
}

#define NEEDED                                                                                                         \
    "https = 127.0.0.1:0\nsip = 127.0.0.1:0\npublic_url = https://192.0.2.7\nmail_url = smtp://127.0.0.1:1\n"          \
    "mail_from = door@example.com\n"

/* Sets up DIR/NAME with these answers. Returns the exit status. */
static int set_up(const char *name, const char *answers, const char *options)
{
    char words[512];
    write_text("answers", answers);
    snprintf(words, sizeof words, "setup --config %s/%s --answers %s/answers --data %s/data --user %s %s", directory,
             name, directory, directory, getpwuid(geteuid())->pw_name, options);
    const int status = typed(&service_program, words, out, err);
    typed_replace(out, directory, "DIR");
    typed_replace(err, directory, "DIR");
    return status;
}

/* ---- files ---- */

static unsigned mode_of(const char *name)
{
    struct stat st;
    return stat(path_of(name), &st) ? 0 : st.st_mode & 0777;
}

static void secrets_are_in_files_that_nobody_else_reads(void **state)
{
    static const struct {
        const char *name;
        unsigned mode;
    } files[] = {
        {"portero.conf", 0640}, {"master.key", 0600}, {"mail_password", 0600}, {"tls.key", 0600}, {"data", 0700}};
    char text[4096] = "";
    (void)state;
    assert_int_equal(set_up("portero.conf", NEEDED "mail_user = ada\nmail_password = s3cret\n", ""), 1);
    for (size_t i = 0; i < COUNT(files); i++)
        if (mode_of(files[i].name) != files[i].mode)
            fail_msg("%s: %o", files[i].name, mode_of(files[i].name));
    FILE *file = fopen(path_of("portero.conf"), "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_null(strstr(text, "s3cret"));
    assert_null(strstr(out, "s3cret"));
    remove_all();
}

static void a_second_setup_keeps_the_keys_and_the_former_configuration(void **state)
{
    struct stat first, second;
    (void)state;
    assert_int_equal(set_up("portero.conf", NEEDED, ""), 1);
    assert_int_equal(stat(path_of("master.key"), &first), 0);
    assert_int_equal(set_up("portero.conf", NEEDED, ""), 1);
    assert_non_null(strstr(out, "kept     DIR/portero.conf\n"));
    assert_int_equal(mode_of("portero.conf.old"), 0);
    assert_int_equal(set_up("portero.conf", NEEDED "callers = 127.0.0.1\n", ""), 1);
    assert_non_null(strstr(out, "written  DIR/portero.conf\n"));
    assert_int_not_equal(mode_of("portero.conf.old"), 0);
    assert_int_equal(set_up("portero.conf", NEEDED, "--force"), 1);
    assert_non_null(strstr(out, "kept     DIR/master.key\n"));
    assert_int_equal(stat(path_of("master.key"), &second), 0);
    assert_true(first.st_ino == second.st_ino);
    remove_all();
}

/* Things in the way of a file that setup writes. */
static const struct {
    const char *name, *link; /* a directory, or a link to this */
    const char *says;
} obstacles[] = {
    {"portero.conf.new", NULL, "porterod: DIR/portero.conf: Is a directory\n"},
    {"portero.conf.new", "/dev/null", "porterod: DIR/portero.conf: Too many levels of symbolic links\n"},
    {"master.key.new", "answers", "porterod: DIR/master.key: Too many levels of symbolic links\n"},
    {"mail_password.new", "nowhere", "porterod: DIR/mail_password: Too many levels of symbolic links\n"},
};

static void a_failure_takes_back_the_files_before_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(obstacles); i++) {
        const char *link = obstacles[i].link, *path = path_of(obstacles[i].name);
        assert_int_equal(link ? symlink(link, path) : mkdir(path, 0700), 0);
        const int status = set_up("portero.conf", NEEDED "mail_user = ada\nmail_password = x\n", "");
        if (status != 2 || strcmp(err, obstacles[i].says) != 0)
            fail_msg("%s: exit %d: %s", obstacles[i].name, status, err);
        for (size_t k = 1; k < COUNT(names); k++)
            if (strcmp(names[k], obstacles[i].name) != 0 && access(path_of(names[k]), F_OK) == 0)
                fail_msg("%s: %s is there", obstacles[i].name, names[k]);
        remove_all();
    }
}

static void a_data_directory_whose_parent_is_missing_is_not_made(void **state)
{
    (void)state;
    assert_int_equal(set_up("portero.conf", NEEDED, "--data /nonexistent/data"), 2);
    assert_string_equal(err, "porterod: data_dir /nonexistent/data: No such file or directory\n");
    assert_int_equal(mode_of("portero.conf"), 0);
    assert_int_equal(mode_of("master.key"), 0);
    remove_all();
}

/* ---- the next steps ---- */

#define CONFIG  " --config DIR/portero.conf\n"
#define SERVE   "    porterod serve" CONFIG "    porterod health" CONFIG
#define ADD     "    porterod admin account add "
#define NUMBER  "    porterod admin number add "
#define BOX     "\nThe call box dials sip:"
#define BOX_END "@192.0.2.7:0 (UDP or TCP).\n"

static const struct {
    const char *answers, *next; /* from the first command to the call box */
} steps[] = {
    {"", SERVE ADD "EMAIL" CONFIG NUMBER "NUMBER --account EMAIL" CONFIG BOX "NUMBER" BOX_END},
    {"residents = a@b.example\nnumbers = 4711\n",
     SERVE ADD "a@b.example" CONFIG NUMBER "4711 --account a@b.example" CONFIG BOX "4711" BOX_END},
    {"residents = a@b.example, c@d.example\nnumbers = 4711, 4712\n",
     SERVE ADD "a@b.example c@d.example" CONFIG NUMBER "4711 --account a@b.example" CONFIG NUMBER
               "4712 --account c@d.example" CONFIG BOX "4711" BOX_END},
    /* not as many of both */
    {"residents = a@b.example\nnumbers = 4711,4712\n", SERVE ADD
     "a@b.example" CONFIG NUMBER "4711 --account EMAIL" CONFIG NUMBER "4712 --account EMAIL" CONFIG BOX "4711" BOX_END},
    /* characters of e-mail addresses that a shell takes for its own */
    {"residents = o'hara@b.example, a$PATH&b@b.example\nnumbers = 4711, 4712\n", SERVE ADD
     "'o'\\''hara@b.example' 'a$PATH&b@b.example'" CONFIG NUMBER "4711 --account 'o'\\''hara@b.example'" CONFIG NUMBER
     "4712 --account 'a$PATH&b@b.example'" CONFIG BOX "4711" BOX_END},
};

static void the_next_commands_can_be_typed_as_they_are_printed(void **state)
{
    char answers[1024];
    (void)state;
    for (size_t i = 0; i < COUNT(steps); i++) {
        snprintf(answers, sizeof answers, "%s%s", NEEDED, steps[i].answers);
        const int status = set_up("portero.conf", answers, "");
        const char *next = strstr(out, "    porterod serve");
        if (status != 1 || !next || strncmp(next, steps[i].next, strlen(steps[i].next)) != 0)
            fail_msg("%s: exit %d: %s%s", steps[i].answers, status, out, err);
        remove_all();
    }
}

static void a_path_is_one_word_of_the_next_commands(void **state)
{
    (void)state;
    assert_int_equal(set_up("a&b/portero.conf", NEEDED, ""), 1);
    assert_non_null(strstr(out, "    porterod setup --check --config 'DIR/a&b/portero.conf'\n"));
    assert_non_null(strstr(out, "    porterod serve --config 'DIR/a&b/portero.conf'\n"));
    remove_all();
}

/* ---- the checks alone ---- */

static void the_checks_alone_write_nothing(void **state)
{
    char words[256];
    (void)state;
    snprintf(words, sizeof words, "setup --check --config %s/portero.conf --user %s", directory,
             getpwuid(geteuid())->pw_name);
    assert_int_equal(typed(&service_program, words, out, err), 2);
    typed_replace(err, directory, "DIR");
    assert_string_equal(err, "porterod: DIR/portero.conf: No such file or directory\n");
    assert_int_equal(set_up("portero.conf", NEEDED, ""), 1);
    assert_int_equal(typed(&service_program, words, out, err), 1);
    assert_int_equal(strncmp(out, "ok       name: 192.0.2.7 is 192.0.2.7\n", 38), 0);
    assert_null(strstr(out, "written"));
    assert_null(strstr(out, "porterod serve"));
    remove_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_in_files_that_nobody_else_reads),
        cmocka_unit_test(a_second_setup_keeps_the_keys_and_the_former_configuration),
        cmocka_unit_test(a_failure_takes_back_the_files_before_it),
        cmocka_unit_test(a_data_directory_whose_parent_is_missing_is_not_made),
        cmocka_unit_test(the_next_commands_can_be_typed_as_they_are_printed),
        cmocka_unit_test(a_path_is_one_word_of_the_next_commands),
        cmocka_unit_test(the_checks_alone_write_nothing),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
