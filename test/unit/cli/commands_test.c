/* The commands of the service's operator as they are typed, where no service runs: mistakes, configurations, help. */
#include "cli/program.h"

#include "base/unit.h"
#include "client/typed.h"

static char directory[] = "/tmp/portero-commands-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/portero.lock", directory); /* of those that look into the data */
    return unlink(path) || rmdir(directory);
}

struct row {
    const char *typed; /* DIR: the directory */
    int status;
    const char *out, *err;
};

static void check(const struct row *r)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char words[1024];
    const char *dir = strstr(r->typed, "DIR");
    const int before = dir ? (int)(dir - r->typed) : (int)strlen(r->typed);
    snprintf(words, sizeof words, "%.*s%s%s", before, r->typed, dir ? directory : "", dir ? dir + strlen("DIR") : "");
    const int status = typed(&service_program, words, out, err);
    typed_replace(out, directory, "DIR");
    typed_replace(err, directory, "DIR");
    if (status != r->status || strcmp(out, r->out) != 0 || strcmp(err, r->err) != 0)
        fail_msg("porterod %s: exit %d\nout: %s\nerr: %s", words, status, out, err);
}

static void check_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}

/* ---- mistakes ---- */

#define WRONG(words, says)                                                                                             \
    {                                                                                                                  \
        words, 2, "", "porterod: " says "\n"                                                                           \
    }
#define FAILS(words, says)                                                                                             \
    {                                                                                                                  \
        words, 1, "", "porterod: " says "\n"                                                                           \
    }

static const struct row mistakes[] = {
    WRONG("", "no command given; see `porterod help`"),
    WRONG("dance", "unknown command: dance; see `porterod help`"),
    WRONG("help dance", "unknown command: dance; see `porterod help`"),
    WRONG("serve --colour red", "serve: unknown option --colour; see `porterod serve --help`"),
    WRONG("serve extra", "serve: unexpected argument extra; see `porterod serve --help`"),
    WRONG("serve --config /nonexistent.conf", "/nonexistent.conf: No such file or directory"),
    WRONG("check-config --config", "check-config: no value for --config; see `porterod check-config --help`"),
    WRONG("backup --data DIR", "backup: name FILE or --directory, one of them; see `porterod backup --help`"),
    WRONG("backup a --directory b --data DIR",
          "backup: name FILE or --directory, one of them; see `porterod backup --help`"),
    WRONG("restore", "restore: missing argument FILE|DIR; see `porterod restore --help`"),
    WRONG("migrate --from x", "migrate: name --from sqlite:FILE and --to postgresql:DSN"),
    WRONG("openapi extra", "openapi: unexpected argument extra; see `porterod openapi --help`"),
    WRONG("admin", "admin: missing argument NOUN VERB …; see `porterod admin --help`"),
    WRONG("admin dance", "unknown command: admin dance; see `porterod admin --help`"),
    WRONG("admin door open", "unknown command: admin door open; see `porterod admin --help`"),
    WRONG("admin key create --days 0", "admin key create: --days must be an integer from 1 to 90"),
    WRONG("admin delivery list --limit 5",
          "admin delivery list: unknown option --limit; see `porterod admin delivery list --help`"),
    WRONG("admin explain --digits 1", "admin explain: --building ID is required; see `porterod admin explain --help`"),
    WRONG("admin account add", "admin account add: missing argument EMAIL…; see `porterod admin account add --help`"),
    WRONG("backup a --keep 3 --data DIR", "backup: --keep needs --directory"),
    WRONG("backup --directory a --keep 0", "backup: --keep must be an integer from 1 to 100000"),
    WRONG("restore a --at yesterday --data DIR",
          "restore: --at must be a time with an offset, like 2026-11-22T14:03:00Z"),
    WRONG("buzz --to a/b", "buzz: --to must be a number or a name; see `porterod buzz --help`"),
    WRONG("buzz --to 1 --from \x1b[2J", "buzz: --from must be a number or a name; see `porterod buzz --help`"),
    WRONG("buzz --to 1 --digits 12x",
          "buzz: --digits must consist of 0 to 9, *, #, A to D and commas; see `porterod buzz --help`"),
    WRONG("buzz --to 1 --tone 19", "buzz: --tone must be an integer from 20 to 5000"),
    WRONG("phone --inband --info", "phone: --inband and --info are mutually exclusive; see `porterod phone --help`"),
    WRONG("phone --refuse 399", "phone: --refuse must be an integer from 400 to 699"),
    WRONG("buzz", "buzz: --to NUMBER is required; see `porterod buzz --help`"),
    WRONG("buzz --to 1 --sip here",
          "buzz: --sip must be ADDRESS:PORT, or tcp:ADDRESS:PORT; see `porterod buzz --help`"),
    WRONG("phone --listen here",
          "phone: --listen must be ADDRESS:PORT with one numeric address of this machine; see `porterod phone --help`"),
};

static void mistakes_are_told_with_the_command_that_helps(void **state)
{
    (void)state;
    check_all(mistakes, COUNT(mistakes));
}

#define ABSENT "the service is not running: nothing is listening on DIR/portero.sock"

static const struct row absences[] = {
    FAILS("health --data DIR", ABSENT),
    FAILS("rekey --data DIR", ABSENT),
    FAILS("admin status --data DIR", ABSENT),
    FAILS("admin number list --data DIR", ABSENT),
    FAILS("backup DIR/copy.db --data DIR", "DIR/portero.db: No such file or directory"),
    FAILS("restore /nonexistent.db --data DIR", "/nonexistent.db: No such file or directory"),
    FAILS("check-store /nonexistent.db", "/nonexistent.db: No such file or directory"),
};

static void commands_fail_where_there_is_neither_service_nor_store(void **state)
{
    (void)state;
    check_all(absences, COUNT(absences));
}

/* ---- configurations ---- */

#define QUIET "listen { https = \"127.0.0.1:0\"\n http = \"\"\n sip = \"\"\n }\n"

static const struct {
    const char *text;
    struct row row;
} configurations[] = {
    {"mode = sandbox\n" QUIET,
     {"check-config --config DIR/portero.conf", 0, "DIR/portero.conf is valid: mode sandbox, data in DIR/data\n", ""}},
    {"mode = sandbox\nno_such_key = 1\nlog { level = loud\n }\n" QUIET,
     {"check-config --config DIR/portero.conf", 2, "",
      "porterod: DIR/portero.conf:2: no such option 'no_such_key'\n"
      "porterod: DIR/portero.conf:3: no such option 'level'; did you mean log_level?\n"}},
    {"mode = sandbox\nlisten { https = \"127.0.0.1:0\"\n http = \"\"\n sip = \"here\"\n }\n",
     {"check-config --config DIR/portero.conf", 2, "",
      "porterod: DIR/portero.conf:4: listen.sip must be ADDRESS:PORT, like 127.0.0.1:8443 or [::1]:8443\n"}},
    {"mode = sandbox\n" QUIET "http { threads = -1\n }\n",
     {"serve --config DIR/portero.conf", 2, "", "porterod: DIR/portero.conf:6: http.threads must be from 0 to 256\n"}},
};

static void a_configuration_is_judged_as_a_whole_with_file_and_line(void **state)
{
    char path[64], data[64];
    (void)state;
    snprintf(path, sizeof path, "%s/portero.conf", directory);
    snprintf(data, sizeof data, "%s/data", directory);
    setenv("PORTERO_DATA_DIR", data, 1);
    for (size_t i = 0; i < COUNT(configurations); i++) {
        FILE *file = fopen(path, "we");
        assert_non_null(file);
        fputs(configurations[i].text, file);
        fclose(file);
        check(&configurations[i].row);
        assert_int_equal(access(data, F_OK), -1); /* nothing is made */
    }
    unsetenv("PORTERO_DATA_DIR");
    unlink(path);
}

/* ---- output ---- */

static void help_names_each_command_and_each_its_options(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX], one[TYPED_MAX];
    char line[128];
    const struct command *c;
    (void)state;
    assert_int_equal(typed(&service_program, "help", out, err), 0);
    for (size_t i = 0; (c = service_program.at(i)); i++) {
        snprintf(line, sizeof line, "\n  %s ", c->name);
        assert_non_null(strstr(out, line));
        snprintf(line, sizeof line, "help %s", c->name);
        assert_int_equal(typed(&service_program, line, one, err), 0);
        assert_string_equal(err, "");
        snprintf(line, sizeof line, "Usage: porterod %s", c->name);
        assert_int_equal(strncmp(one, line, strlen(line)), 0);
        for (size_t j = 0; j < c->option_count; j++) {
            snprintf(line, sizeof line, "\n  --%s", c->options[j].name);
            if (!strstr(one, line))
                fail_msg("the help of %s lacks --%s", c->name, c->options[j].name);
        }
    }
}

static void each_openapi_document_is_printed(void **state)
{
    static const char *const words[] = {"openapi", "openapi --sandbox", "openapi --site"};
    static const char begins[] = "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"";
    static char out[TYPED_MAX], err[TYPED_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(typed(&service_program, words[i], out, err), 0);
        assert_string_equal(err, "");
        assert_int_equal(strncmp(out, begins, strlen(begins)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told_with_the_command_that_helps),
        cmocka_unit_test(commands_fail_where_there_is_neither_service_nor_store),
        cmocka_unit_test(a_configuration_is_judged_as_a_whole_with_file_and_line),
        cmocka_unit_test(help_names_each_command_and_each_its_options),
        cmocka_unit_test(each_openapi_document_is_printed),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
