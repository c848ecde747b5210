/* The trace of SIP: all messages with their addresses, no secret, a bounded file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "sip/fixture.h"
#include "sip/mask.h"
#include "sip/trace.h"

static char path[64], old_path[80], content[1024 * 1024];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/portero-trace-XXXXXX");
    close(mkstemp(path));
    (void)snprintf(old_path, sizeof old_path, "%s.1", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(old_path);
    return 0;
}

static const char *read_trace(void)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    content[fread(content, 1, sizeof content - 1, f)] = '\0';
    fclose(f);
    return content;
}

/* PHONE-24 */
static void test_a_call_is_traced_without_its_code(void **state)
{
    struct raw r;
    chmod(path, 0644);
    agent_config.voice_trace = path;
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    raw_request(&r, "INVITE", FAKE_CODE, 1,
                "Authorization: Digest username=\"box\", response=\"6629fae49393a05397450978507c4ef1\"\r\n" RAW_SDP,
                raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    for (unsigned i = 0; i < 2; i++) {
        raw_request(&r, "INFO", FAKE_CODE, 2 + i, "Content-Type: application/dtmf-relay\r\n",
                    i ? "Signal=#\r\nDuration=160\r\n" : "Signal=7\r\nDuration=160\r\n");
        assert_int_equal(raw_final(&r), 200);
    }
    assert_true(raw_requested(&r, "BYE"));
    char line[200];
    (void)snprintf(line, sizeof line, "Z in UDP 127.0.0.1:%d > %s ", r.sip_port, sip_address(agent));
    raw_close(&r);
    agent_tear_down(state);
    agent_config.voice_trace = NULL;
    read_trace();
    assert_non_null(strstr(content, line));
    assert_non_null(strstr(content, "\nINVITE sip:" FAKE_CODE "@127.0.0.1 SIP/2.0\r\n"));
    assert_non_null(strstr(content, "Z out UDP "));
    assert_non_null(strstr(content, "\nSIP/2.0 200 OK\r\n"));
    assert_non_null(strstr(content, "\nBYE sip:me@"));
    assert_non_null(strstr(content, "\nSignal=x\r\nDuration=xxx\r\n"));
    assert_null(strstr(content, "Signal=7"));
    assert_null(strstr(content, "6629fae4"));
    struct stat at;
    assert_int_equal(stat(path, &at), 0);
    assert_int_equal(at.st_mode & 0777, 0600);
}

/* PHONE-24 */
static void test_a_full_file_is_renamed_once(void **state)
{
    (void)state;
    struct sip_trace *t;
    struct sa at;
    struct stat s;
    assert_int_equal(sa_set_str(&at, "192.0.2.7", 5060), 0);
    assert_int_equal(truncate(path, 16 * 1024 * 1024 - 10), 0);
    assert_int_equal(sip_trace_open(path, &t), 0);
    sip_trace_add(t, true, SIP_TRANSP_TCP, &at, &at, (const uint8_t *)"BYE\r\n\r\n", 7);
    sip_trace_close(t);
    assert_int_equal(stat(old_path, &s), 0);
    assert_int_equal(s.st_size, 16 * 1024 * 1024 - 10);
    assert_non_null(strstr(read_trace(), "out TCP 192.0.2.7:5060 > 192.0.2.7:5060 7 bytes\nBYE\r\n\r\n"));
}

static void test_a_file_that_cannot_be_opened_stops_the_start(void **state)
{
    (void)state;
    struct config c = agent_config;
    struct sip_agent *a;
    char *why = NULL;
    c.voice_trace = "/nowhere/trace";
    assert_int_equal(sip_start(&c, NULL, NULL, &a, &why), ERR_USAGE);
    assert_non_null(strstr(why, "/nowhere/trace"));
    free(why);
}

static void masks(const char *before, const char *after)
{
    char text[1024];
    size_t n = strlen(before);
    memcpy(text, before, n + 1);
    sip_mask(text, n);
    assert_string_equal(text, after);
}

/* PHONE-24 */
static void test_secrets_are_masked(void **state)
{
    (void)state;
    masks("INVITE sip:a SIP/2.0\r\nProxy-Authorization : Digest username=\"a\",\r\n response=\"b\"\r\nX: y\r\n\r\n",
          "INVITE sip:a SIP/2.0\r\nProxy-Authorization : Digest xxxxxxxxxxxxx\r\nxxxxxxxxxxxxx\r\nX: y\r\n\r\n");
    masks("SIP/2.0 200 OK\r\nauthentication-info: rspauth=\"b\"\r\n\r\n",
          "SIP/2.0 200 OK\r\nauthentication-info: xxxxxxxxxxx\r\n\r\n");
    masks("\r\n\r\nINFO sip:a SIP/2.0\r\nContent-Type: application/dtmf\r\n\r\n5",
          "\r\n\r\nINFO sip:a SIP/2.0\r\nContent-Type: application/dtmf\r\n\r\nx");
    masks("INFO sip:a SIP/2.0\n\nSignal = 5\nDuration=1", "INFO sip:a SIP/2.0\n\nSignal =xx\nDuration=x");
    masks("SIP/2.0 200 OK\r\n\r\nv=0\r\na=crypto:1 AES inline:abc\r\nk=base64:abc\r\na=ice-pwd:abc\r\na=sendrecv\r\n",
          "SIP/2.0 200 OK\r\n\r\nv=0\r\na=crypto:xxxxxxxxxxxxxxxx\r\nk=xxxxxxxxxx\r\na=ice-pwd:xxx\r\na=sendrecv\r\n");
    masks("BYE sip:a SIP/2.0\r\nSubject: \x1b[2J\r\n\r\n", "BYE sip:a SIP/2.0\r\nSubject: .[2J\r\n\r\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_call_is_traced_without_its_code),
        T(a_full_file_is_renamed_once),
        T(a_file_that_cannot_be_opened_stops_the_start),
        T(secrets_are_masked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
