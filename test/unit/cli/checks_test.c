/* Checks of a configuration across keys, files and addresses. */
#include "cli/checks.h"

#include <unistd.h>

#include "base/unit.h"

static char directory[] = "/tmp/portero-checks-XXXXXX";

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

/* Keys of a sandbox that listens nowhere, unless the row says so. */
#define QUIET "listen { https = \"127.0.0.1:0\"\n http = \"\"\n sip = \"\"\n }\n"

static const struct {
    const char *text;
    const char *fault; /* part of the only line; NULL: none */
} configurations[] = {
    {QUIET, NULL},
    /* two listeners */
    {"listen { https = \"127.0.0.1:0\"\n http = \"127.0.0.1:0\"\n sip = \"\"\n }\n", NULL},
    {"listen { https = \"127.0.0.1:4701\"\n http = \"127.0.0.1:4702\"\n sip = \"\"\n }\n", NULL},
    {"listen { https = \"127.0.0.1:4701\"\n http = \"127.0.0.1:4701\"\n sip = \"\"\n }\n",
     "listen.http is the same address as listen.https"},
    {"listen { https = \"localhost:4701\"\n http = \"127.0.0.1:4701\"\n sip = \"\"\n }\n",
     "listen.http is the same address as listen.https"},
    {"listen { https = \"127.0.0.1:4701\"\n http = \"\"\n sip = \"\"\n metrics = \"127.0.0.1:4701\"\n }\n",
     "listen.metrics is the same address as listen.https"},
    {"listen { https = \"192.0.2.1:4701\"\n http = \"\"\n sip = \"\"\n }\n",
     "listen.https: cannot listen on 192.0.2.1:4701"},
    /* ranges that depend on each other */
    {QUIET "voice { calls = 10\n rtp_port_low = 20000\n rtp_port_high = 20040\n }\n", NULL},
    {QUIET "voice { calls = 10\n rtp_port_low = 20000\n rtp_port_high = 20038\n }\n",
     "voice.rtp_port_high must be at least 40 above voice.rtp_port_low"},
    /* the store */
    {QUIET "store { engine = postgresql\n dsn = \"host=/tmp dbname=a\"\n }\n", NULL},
    {QUIET "store { engine = postgresql\n dsn = \"a b\"\n }\n", "store.dsn is not a valid libpq connection string"},
    {QUIET "store { engine = postgresql\n dsn = \"host=/tmp\"\n }\nbackup { directory = \"/tmp/a\"\n }\n",
     "backup.directory follows a SQLite store"},
    {QUIET "backup { directory = \"/tmp/a\"\n }\n", NULL},
    /* files */
    {QUIET "tls { certificate = \"/nonexistent.crt\"\n key = \"/nonexistent.key\"\n }\n", "tls."},
    {QUIET "stripe { secret_key = \"file:/nonexistent\"\n }\n", "stripe.secret_key"},
};

static struct str faults_of(const char *text, struct buf *faults)
{
    struct buf all = BUF(1u << 16);
    buf_printf(&all, "mode = sandbox\ndata_dir = \"%s\"\n%s", directory, text);
    struct config *c = config_read_text("portero.conf", buf_view(&all), faults);
    assert_non_null(c);
    checks_run(c, faults);
    config_free(c);
    buf_done(&all);
    return buf_view(faults);
}

static void a_configuration_that_cannot_work_is_told_with_its_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(configurations); i++) {
        struct buf buf = BUF(1u << 16);
        struct str line, rest = faults_of(configurations[i].text, &buf);
        const char *fault = configurations[i].fault;
        line = str_cut(rest, '\n', &rest);
        if (!fault && line.n)
            fail_msg("%s: %.*s", configurations[i].text, STR_ARG(line));
        if (fault && (!memmem(line.p, line.n, fault, strlen(fault)) || rest.n))
            fail_msg("%s: %.*s", configurations[i].text, STR_ARG(buf_view(&buf)));
        buf_done(&buf);
    }
}

/* A start waits for an address that this machine does not have yet, so it is no fault there. */
static void a_start_leaves_out_what_may_pass(void **state)
{
    (void)state;
    char path[64], *why = NULL;
    struct config *c = NULL;
    snprintf(path, sizeof path, "%s/portero.conf", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file,
            "mode = sandbox\ndata_dir = \"%s\"\nlisten { https = \"192.0.2.1:4701\"\n http = \"\"\n sip = \"\"\n }\n",
            directory);
    fclose(file);
    assert_int_equal(checks_load(path, NULL, 0, &c, &why), ERR_USAGE);
    assert_null(c);
    assert_non_null(strstr(why, "listen.https: cannot listen on 192.0.2.1:4701"));
    free(why);
    assert_int_equal(checks_load_start(path, NULL, 0, &c, &why), ERR_NONE);
    assert_string_equal(c->listen_https, "192.0.2.1:4701");
    config_free(c);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_that_cannot_work_is_told_with_its_key),
        cmocka_unit_test(a_start_leaves_out_what_may_pass),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
