/* Logins that are kept in files, and requests printed as curl commands. */
#include "client/profile.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/unit.h"
#include "client/curl_line.h"

static char home[] = "/tmp/portero-home-XXXXXX";

static int make_home(void **state)
{
    (void)state;
    return mkdtemp(home) && setenv("XDG_CONFIG_HOME", home, 1) == 0 ? 0 : -1;
}

static int remove_home(void **state)
{
    char directory[64];
    (void)state;
    snprintf(directory, sizeof directory, "%s/portero", home);
    return rmdir(directory) == 0 && rmdir(home) == 0 ? 0 : -1;
}

static const char *path_of(const char *file)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/portero/%s", home, file);
    return path;
}

static void assert_same(const char *got, const char *want)
{
    assert_int_equal(got != NULL, want != NULL);
    if (got)
        assert_string_equal(got, want);
}

/* ---- names ---- */

static void a_name_is_one_of_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is;
    } cases[] = {{"default", true},
                 {"A-b_9", true},
                 {"abcdefghijklmnopqrstuvwxyz012345", true},
                 {"abcdefghijklmnopqrstuvwxyz0123456", false},
                 {"", false},
                 {"a/b", false},
                 {"..", false},
                 {"a b", false},
                 {"\xc3\xa9", false}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(profile_is_name(cases[i].name), cases[i].is);
}

/* ---- files ---- */

static const struct profile profiles[] = {
    {.url = "https://door.example",
     .key = "svc_a",
     .email = "ada@example.com",
     .scopes = "access:read",
     .pin = "sha256//x"},
    {.url = "https://door.example", .key = "svc_\"\\a", .email = ""},
};

static void a_login_is_read_as_it_was_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        const struct profile *kept = &profiles[i];
        struct profile read;
        struct stat st;
        char *why = NULL;
        assert_int_equal(profile_save("home", kept, i ? STR_NONE : STR("certificate"), &why), ERR_NONE);
        assert_true(stat(path_of("home.json"), &st) == 0 && (st.st_mode & 0777) == 0600);
        assert_int_equal(profile_load("home", &read, &why), ERR_NONE);
        assert_same(read.url, kept->url);
        assert_same(read.key, kept->key);
        assert_same(read.email, kept->email);
        assert_same(read.scopes, kept->scopes);
        assert_same(read.pin, kept->pin);
        assert_same(read.ca_file, i ? NULL : path_of("home.pem")); /* a certificate goes with the next login */
        profile_done(&read);
        assert_null(read.key);
    }
    char *why = NULL;
    struct profile read;
    assert_int_equal(profile_remove("home", &why), ERR_NONE);
    assert_int_equal(profile_remove("home", &why), ERR_NONE);
    assert_int_equal(profile_load("home", &read, &why), ERR_NOT_FOUND);
}

static const struct {
    const char *text;
    unsigned mode;
    const char *why; /* part of the message */
} faults[] = {
    {"{\"url\":\"https://a\",\"key\":\"b\"}", 0640, "others may read it"},
    {"{\"url\":\"https://a\",\"key\":\"b\"}", 0604, "others may read it"},
    {"{\"url\":", 0600, "not JSON"},
    {"{\"url\":\"https://a\"}", 0600, "url or key is missing"},
    {"{\"key\":\"b\",\"url\":5}", 0600, "url or key is missing"},
    {"[]", 0600, "url or key is missing"},
    {"", 0600, "not JSON"},
};

static void a_file_that_others_may_read_or_that_is_damaged_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        char *why = NULL;
        struct profile read;
        FILE *file;
        assert_int_equal(profile_save("bad", &profiles[0], STR_NONE, &why), ERR_NONE);
        assert_non_null(file = fopen(path_of("bad.json"), "we"));
        fputs(faults[i].text, file);
        fclose(file);
        assert_int_equal(chmod(path_of("bad.json"), faults[i].mode), 0);
        assert_int_equal(profile_load("bad", &read, &why), ERR_IO);
        if (!strstr(why, faults[i].why))
            fail_msg("%s", why);
        free(why);
        assert_int_equal(profile_remove("bad", &why), ERR_NONE);
    }
}

static void a_link_is_not_followed(void **state)
{
    (void)state;
    char *why = NULL;
    struct profile read;
    char target[128];
    assert_int_equal(profile_save("real", &profiles[0], STR_NONE, &why), ERR_NONE);
    snprintf(target, sizeof target, "%s", path_of("real.json"));
    assert_int_equal(symlink(target, path_of("link.json")), 0);
    assert_int_equal(profile_load("link", &read, &why), ERR_IO);
    free(why);
    assert_int_equal(unlink(path_of("link.json")), 0);
    assert_int_equal(profile_remove("real", &why), ERR_NONE);
}

/* ---- curl ---- */

static const struct {
    struct remote remote;
    struct remote_call call;
    const char *parts[4]; /* of the line */
    const char *absent;
} lines[] = {
    {{.url = "https://a.example"},
     {.method = "GET", .path = "/v1/unlock?limit=1"},
     {"curl --silent --show-error --globoff --request GET ", "--header \"Authorization: Bearer $PORTERO_KEY\"",
      " 'https://a.example''/v1/unlock?limit=1'\n"},
     "--data-raw"},
    {{.url = "https://a.example", .key = "svc_secret", .ca_file = "/tmp/my ca.pem"},
     {.method = "POST",
      .path = "/v1/unlock",
      .body = {"{\"label\":\"O'Hara\"}", 18},
      .building = "b1",
      .if_match = "\"7\""},
     {"--cacert '/tmp/my ca.pem'", "--data-raw '{\"label\":\"O'\\''Hara\"}'", "X-Service-Building-Id: b1'",
      "If-Match: \"7\"'"},
     "svc_secret"},
    {{.url = "https://a.example", .pin = "sha256//x=", .ca_file = "/tmp/ca.pem"},
     {.method = "DELETE", .path = "/v1/unlock/1", .idempotency_key = "k"},
     {"--pinnedpubkey 'sha256//x=' --insecure", "Idempotency-Key: k'", "--request DELETE"},
     "--cacert"},
};

static void a_request_is_printed_for_a_shell_without_the_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        char *line = NULL;
        size_t size;
        FILE *out = open_memstream(&line, &size);
        curl_line_print(&lines[i].remote, &lines[i].call, out);
        fclose(out);
        for (size_t k = 0; k < COUNT(lines[i].parts) && lines[i].parts[k]; k++)
            if (!strstr(line, lines[i].parts[k]))
                fail_msg("no %s in %s", lines[i].parts[k], line);
        assert_null(strstr(line, lines[i].absent));
        assert_ptr_equal(strchr(line, '\n'), line + size - 1);
        free(line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_one_of_a_file),
        cmocka_unit_test(a_login_is_read_as_it_was_kept),
        cmocka_unit_test(a_file_that_others_may_read_or_that_is_damaged_is_refused),
        cmocka_unit_test(a_link_is_not_followed),
        cmocka_unit_test(a_request_is_printed_for_a_shell_without_the_key),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
