#include <sys/stat.h>

#include "base/config.h"

#include <errno.h>

#include "base/config_check.h"
#include "config_fixture.h"

static struct config *load_path(const char *path)
{
    struct config *c = NULL;
    char *why = NULL;
    if (config_load(path, &c, &why))
        fail_msg("%s", why);
    return c;
}

static struct config *load(const char *text)
{
    write_file("portero.conf", str_z(text));
    return load_path("portero.conf");
}

static void refuse_path(const char *path, const char *want)
{
    struct config *c = NULL;
    char *why = NULL;
    assert_int_equal(config_load(path, &c, &why), ERR_USAGE);
    assert_null(c);
    assert_string_equal(why, want);
    free(why);
}

static void refuse(const char *text, const char *want)
{
    write_file("portero.conf", str_z(text));
    refuse_path("portero.conf", want);
}

/* ---- values ---- */

static void an_empty_file_gives_the_defaults(void **state)
{
    (void)state;
    struct config *c = load("# nothing\n");
    assert_false(c->production);
    assert_int_equal(c->engine, ENGINE_SQLITE);
    assert_string_equal(c->top_data_dir, "var");
    assert_string_equal(c->listen_https, "localhost:8443");
    assert_string_equal(c->listen_metrics, "");
    assert_int_equal(c->limits_otp_per_ip, 5);
    assert_true(c->webhooks_verify_tls);
    assert_false(c->webhooks_allow_private);
    assert_null(c->top_trusted_proxies[0]);
    assert_string_equal(c->plans[0].id, "weekly");
    assert_int_equal(c->plans[0].amount_minor, 499);
    assert_string_equal(c->plans[0].currency, "usd");
    assert_string_equal(c->plans[0].interval, "week");
    assert_int_equal(c->plans[0].interval_count, 1);
    assert_true(c->plans[0].available);
    assert_string_equal(c->plans[1].id, "yearly");
    assert_int_equal(c->plans[1].amount_minor, 19900);
    assert_string_equal(c->plans[1].interval, "year");
    config_free(c);
}

static void the_file_sets_values(void **state)
{
    (void)state;
    struct config *c = load("data_dir = '/var/lib/portero'\n"
                            "public_url = \"https://door.example.com/\"\n"
                            "trusted_proxies = { 10.0.0.0/8, \"2001:db8::/32\", 192.0.2.1 }\n"
                            "listen { https = [::1]:0 sip = \"0.0.0.0:5060\" }\n"
                            "store { engine = postgresql dsn = \"host=a,b user='x y'\" }\n"
                            "limits { otp_per_ip = 100000000 }\n"
                            "webhooks { verify_tls = off }\n"
                            "greetings { welcome = \"\" denied = \"N\\u00f3 \\\"way\\\"\" }\n");
    assert_string_equal(c->top_data_dir, "/var/lib/portero");
    assert_string_equal(c->top_public_url, "https://door.example.com");
    assert_string_equal(c->top_trusted_proxies[0], "10.0.0.0/8");
    assert_string_equal(c->top_trusted_proxies[1], "2001:db8::/32");
    assert_string_equal(c->top_trusted_proxies[2], "192.0.2.1");
    assert_null(c->top_trusted_proxies[3]);
    assert_string_equal(c->listen_https, "[::1]:0");
    assert_string_equal(c->listen_http, "localhost:8080");
    assert_string_equal(c->listen_sip, "0.0.0.0:5060");
    assert_int_equal(c->engine, ENGINE_POSTGRESQL);
    assert_string_equal(c->store_dsn, "host=a,b user='x y'");
    assert_int_equal(c->limits_otp_per_ip, 100000000);
    assert_false(c->webhooks_verify_tls);
    assert_string_equal(c->greetings_welcome, "");
    config_free(c);
}

static void peers_have_their_own_settings(void **state)
{
    (void)state;
    struct config *c =
        load("voice { peers = {10.0.0.1} peer trunk { addresses = {192.0.2.0/24, 2001:db8::1} calls = 300 "
             "number_in = to country_code = 44 national_prefix = 0 international_prefix = 00 } "
             "peer boxes_2 { addresses = {10.1.0.0/16} } }");
    assert_int_equal(c->peer_count, 2);
    assert_string_equal(c->peers[0].name, "trunk");
    assert_string_equal(c->peers[0].addresses[1], "2001:db8::1");
    assert_null(c->peers[0].addresses[2]);
    assert_int_equal(c->peers[0].calls, 300);
    assert_string_equal(c->peers[0].number_in, "to");
    assert_string_equal(c->peers[0].country_code, "44");
    assert_string_equal(c->peers[0].national_prefix, "0");
    assert_string_equal(c->peers[0].international_prefix, "00");
    assert_string_equal(c->peers[1].name, "boxes_2");
    assert_int_equal(c->peers[1].calls, 100);
    assert_string_equal(c->peers[1].number_in, "uri");
    assert_string_equal(c->peers[1].country_code, "");
    assert_string_equal(c->voice_peers[0], "10.0.0.1");
    config_free(c);
}

static void a_peer_with_a_server_is_a_trunk(void **state)
{
    (void)state;
    struct config *c =
        load("voice { peer a { server = 'sip.example.com:5080' transport = tls user = 100 password = x } "
             "peer b { server = '[2001:db8::1]:5060' } peer c { server = 192.0.2.1 srtp = required } }");
    assert_int_equal(c->peer_count, 3);
    assert_string_equal(c->peers[0].server, "sip.example.com:5080");
    assert_string_equal(c->peers[0].transport, "tls");
    assert_string_equal(c->peers[0].user, "100");
    assert_null(c->peers[0].addresses[0]);
    assert_string_equal(c->peers[1].transport, "auto");
    assert_string_equal(c->peers[1].number_out, "e164");
    assert_string_equal(c->peers[2].srtp, "required");
    config_free(c);
}

static void invalid_servers_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"sip:example.com", "a b",  "host:",  "host:0", "host:65536", "-a",
                                      "[192.0.2.1]",     "[::1", "[::1]5", ":5060",  ".example",   "a/b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "voice { peer trunk { server = '%s' } }", bad[i]);
        refuse(text, "portero.conf:1: voice.peer.trunk.server must be a host name or an address, like "
                     "sip.example.com:5060");
    }
}

static void invalid_peers_are_refused(void **state)
{
    (void)state;
    refuse("voice { peer trunk { } }", "portero.conf: voice.peer.trunk.addresses is required");
    refuse("voice { peer Trunk { addresses = {192.0.2.1} } }",
           "portero.conf:1: a peer's name must be at most 32 lower-case letters, digits and _");
    refuse("voice {\n peer trunk {\n addresses = {nowhere} } }",
           "portero.conf:3: voice.peer.trunk.addresses must be a list of CIDR blocks, like 10.0.0.0/8");
    refuse("voice { peer trunk { addresses = {192.0.2.1} calls = 0 } }",
           "portero.conf:1: voice.peer.trunk.calls must be from 1 to 10000");
    refuse("voice { peer trunk { addresses = {192.0.2.1} number_in = from } }",
           "portero.conf:1: voice.peer.trunk.number_in must be one of uri, to, p_called_party_id");
    refuse("voice { peer trunk { addresses = {192.0.2.1} country_code = '+1' } }",
           "portero.conf:1: voice.peer.trunk.country_code must be at most 7 digits");
    refuse("voice { peer trunk { addresses = {192.0.2.1} calls = 1 calls = 2 } }",
           "portero.conf:1: voice.peer.trunk.calls is given twice");
    refuse("voice { peer a { addresses = {192.0.2.1} }\npeer a { } }", "portero.conf:2: found duplicate title 'a'");
}

static void plans_keep_defaults_of_keys_not_given(void **state)
{
    (void)state;
    struct config *c =
        load("billing { plan weekly { amount = 0 currency = eur } plan yearly { amount = -1 available = true } }");
    assert_int_equal(c->plans[0].amount_minor, 0);
    assert_string_equal(c->plans[0].currency, "eur");
    assert_string_equal(c->plans[0].interval, "week");
    assert_true(c->plans[0].available);
    assert_int_equal(c->plans[1].amount_minor, -1);
    assert_string_equal(c->plans[1].currency, "usd");
    assert_false(c->plans[1].available); /* no price */
    config_free(c);
    c = load("billing { plan yearly { available = false interval = month interval_count = 12 } }");
    assert_false(c->plans[1].available);
    assert_int_equal(c->plans[1].amount_minor, 19900);
    assert_string_equal(c->plans[1].interval, "month");
    assert_int_equal(c->plans[1].interval_count, 12);
    config_free(c);
}

static void the_environment_overrides_the_file(void **state)
{
    (void)state;
    setenv("PORTERO_DATA_DIR", "/elsewhere", 1);
    setenv("PORTERO_LIMITS_OTP_PER_IP", "77", 1);
    setenv("PORTERO_WEBHOOKS_ALLOW_PRIVATE", "true", 1);
    setenv("PORTERO_TRUSTED_PROXIES", "10.0.0.0/8, ::1/128", 1);
    setenv("PORTERO_BILLING_PLAN_YEARLY_AMOUNT", "1", 1);
    struct config *c =
        load("data_dir = here\nlimits { otp_per_ip = 6 auth_per_ip = 7 }\ntrusted_proxies = { 192.0.2.1 }\n");
    assert_string_equal(c->top_data_dir, "/elsewhere");
    assert_int_equal(c->limits_otp_per_ip, 77);
    assert_int_equal(c->limits_auth_per_ip, 7);
    assert_true(c->webhooks_allow_private);
    assert_string_equal(c->top_trusted_proxies[0], "10.0.0.0/8");
    assert_string_equal(c->top_trusted_proxies[1], "::1/128");
    assert_null(c->top_trusted_proxies[2]);
    assert_int_equal(c->plans[1].amount_minor, 1);
    config_free(c);
}

static enum err load_with(const char *https, const char *data, struct config **ret, char **ret_why)
{
    const struct config_override overrides[] = {{"--https", "listen", "https", https},
                                                {"--data", "top", "data_dir", data}};
    return config_load_with("portero.conf", overrides, COUNT(overrides), ret, ret_why);
}

static void the_command_line_overrides_the_environment(void **state)
{
    (void)state;
    struct config *c;
    char *why = NULL;
    write_file("portero.conf", STR("data_dir = here\n"));
    setenv("PORTERO_LISTEN_HTTPS", "127.0.0.1:1", 1);
    assert_int_equal(load_with("127.0.0.1:2", NULL, &c, &why), ERR_NONE);
    assert_string_equal(c->listen_https, "127.0.0.1:2");
    assert_string_equal(c->top_data_dir, "here");
    config_free(c);
    assert_int_equal(load_with(NULL, "there", &c, &why), ERR_NONE);
    assert_string_equal(c->listen_https, "127.0.0.1:1");
    assert_string_equal(c->top_data_dir, "there");
    config_free(c);
}

static void an_invalid_value_on_the_command_line_names_its_option(void **state)
{
    (void)state;
    struct config *c;
    char *why = NULL;
    write_file("portero.conf", STR("listen { http = '' }"));
    assert_int_equal(load_with("8443", NULL, &c, &why), ERR_USAGE);
    assert_string_equal(why, "--https must be ADDRESS:PORT, like 127.0.0.1:8443, [::1]:8443 or localhost:8443");
    free(why);
    assert_int_equal(load_with(NULL, "", &c, &why), ERR_USAGE);
    assert_string_equal(why, "command line: data_dir must not be empty");
    free(why);
    assert_int_equal(load_with("", NULL, &c, &why), ERR_USAGE);
    assert_string_equal(why, "command line: listen.https and listen.http must not both be empty");
    free(why);
}

/* ---- errors and their places ---- */

static void values_out_of_range_are_refused_with_file_and_line(void **state)
{
    (void)state;
    refuse("\n\nlimits {\n  otp_per_ip = 0\n}\n", "portero.conf:4: limits.otp_per_ip must be from 1 to 100000000");
    refuse("limits { otp_per_ip = 100000001 }", "portero.conf:1: limits.otp_per_ip must be from 1 to 100000000");
    refuse("limits { otp_per_ip = five }", "portero.conf:1: limits.otp_per_ip must be from 1 to 100000000");
    refuse("limits { otp_per_ip = 99999999999999999999 }",
           "portero.conf:1: limits.otp_per_ip must be from 1 to 100000000");
    refuse("limits { otp_per_ip = 5x }", "portero.conf:1: limits.otp_per_ip must be from 1 to 100000000");
    refuse("http { threads = -1 }", "portero.conf:1: http.threads must be from 0 to 256");
    refuse("mode = test\n", "portero.conf:1: mode must be one of sandbox, production");
    refuse("tls { groups = \"X25519:ffdhe2048\" }\n",
           "portero.conf:1: tls.groups must be a colon-separated list of X25519, P-256, P-384, P-521, X448");
    refuse("log_level = loud\n", "portero.conf:1: log_level must be one of error, warn, info, debug");
    refuse("webhooks { verify_tls = 2 }", "portero.conf:1: webhooks.verify_tls must be true or false");
    refuse("billing {\n plan weekly {\n  currency = USD } }",
           "portero.conf:3: billing.plan.weekly.currency must be three lower-case letters");
    refuse("billing { plan weekly { amount = -2 } }",
           "portero.conf:1: billing.plan.weekly.amount must be from -1 to 99999999");
}

static void addresses_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "8443",         ":8443",       "localhost:",      "localhost:65536", "LOCALHOST:1",
        "localhost.:1", "127.0.0.1",   "127.0.0.1:",      "127.0.0.1:65536", "::1:8443",
        "[::1]",        "[::1]:",      "[127.0.0.1]:80",  "127.0.0.1:80x",   "[::1]x:80",
        "1.2.3:80",     "1.2.3.4.5:6", "[fe80::1%lo]:80", "127.0.0.1:-1",    "127.0.0.1: 80"};
    static const char *const good[] = {
        "", "0.0.0.0:0", "127.0.0.1:65535", "localhost:8443", "localhost:0", "[::]:8443", "[2001:db8::1]:1"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[100];
        snprintf(text, sizeof text, "listen { https = '%s' }", bad[i]);
        refuse(text,
               "portero.conf:1: listen.https must be ADDRESS:PORT, like 127.0.0.1:8443, [::1]:8443 or localhost:8443");
    }
    for (size_t i = 0; i < COUNT(good); i++) {
        char text[100];
        snprintf(text, sizeof text, "listen { https = '%s' }", good[i]);
        struct config *c = load(text);
        assert_string_equal(c->listen_https, good[i]);
        config_free(c);
    }
}

static void blocks_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"10.0.0.0/33", "::/129",       "10.0.0.0/", "10.0.0.0/x", "10.0.0",
                                      "host/8",      "10.0.0.0/8/8", "/8",        "10.0.0.0/-1"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[100];
        snprintf(text, sizeof text, "trusted_proxies = { 127.0.0.1,\n'%s' }", bad[i]);
        refuse(text, "portero.conf:2: trusted_proxies must be a list of CIDR blocks, like 10.0.0.0/8");
    }
}

static void urls_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"door.example.com",   "ftp://door.example.com", "https://",       "https:///x",
                                      "https://u:p@host",   "https://host?x=1",       "https://host#x", "https://ho st",
                                      "https://host:99999", "https://a\"b",           "https://a_b",    "https://a%20b",
                                      "https://host/a b"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[100];
        snprintf(text, sizeof text, "public_url = '%s'", bad[i]);
        refuse(text, "portero.conf:1: public_url must be a URL with a host and one of the schemes https, http");
    }
    refuse("mail { url = 'http://mail.example.com' }",
           "portero.conf:1: mail.url must be a URL with a host and one of the schemes smtp, smtps");
}

static void provider_urls_must_be_https_or_local(void **state)
{
    (void)state;
    static const char *const good[] = {"https://api.twilio.com", "https://10.0.0.1:8443/x", "http://127.0.0.1:1",
                                       "http://127.9.8.7",       "http://[::1]:80",         "http://localhost:99"};
    static const char *const bad[] = {"http://api.twilio.com",
                                      "http://10.0.0.1",
                                      "http://localhost.example.com",
                                      "http://[::2]",
                                      "smtp://[::1]",
                                      "http://127.0.0.1.example.com",
                                      "127.0.0.1"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(config_is_protected_url(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(config_is_protected_url(bad[i]));
}

static void greetings_follow_the_rules_of_the_interface(void **state)
{
    (void)state;
    char text[600];
    static const char rule[] = "portero.conf:1: greetings.welcome must be UTF-8 and shorter than 120 UTF-16 code units";
    snprintf(text, sizeof text, "greetings { welcome = '%0*d' }", 120, 0);
    refuse(text, rule);
    snprintf(text, sizeof text, "greetings { welcome = '%0*d\xf0\x9f\x9a\xaa' }", 118, 0); /* two UTF-16 units */
    refuse(text, rule);
    refuse("greetings { welcome = 'caf\xe9' }", rule);
    snprintf(text, sizeof text, "greetings { welcome = '%0*d\xc3\xa9' }", 118, 0);
    config_free(load(text));
}

/* SERVICE-4 */
static void unknown_and_repeated_keys_are_refused(void **state)
{
    (void)state;
    refuse("mode = sandbox\ncolour = red\n", "portero.conf:2: no such option 'colour'");
    refuse("limits { colour = 1 }", "portero.conf:1: no such option 'colour'");
    refuse("lights { }", "portero.conf:1: no such option 'lights'");
    refuse("otp_per_ip = 5", "portero.conf:1: no such option 'otp_per_ip'; did you mean limits.otp_per_ip?");
    refuse("mode = sandbox\nmode = sandbox\n", "portero.conf:2: mode is given twice");
    refuse("limits {\notp_per_ip = 5\notp_per_ip = 6 }", "portero.conf:3: limits.otp_per_ip is given twice");
    refuse("limits { otp_per_ip = 5 }\nlimits { auth_per_ip = 6 }", "portero.conf:2: section limits is given twice");
    refuse("billing { plan weekly { amount = 1 amount = 2 } }",
           "portero.conf:1: billing.plan.weekly.amount is given twice");
    refuse("trusted_proxies = { ::1 }\ntrusted_proxies = { ::2 }", "portero.conf:2: trusted_proxies is given twice");
    refuse("trusted_proxies = { ::1, ::2 }\ntrusted_proxies = ::1", "portero.conf:2: trusted_proxies is given twice");
    refuse("billing { plan weekly { }\nplan weekly { } }", "portero.conf:2: found duplicate title 'weekly'");
    refuse("billing { plan monthly { } }", "portero.conf:1: unknown plan; the plans are weekly and yearly");
    refuse("billing { plan monthly { amount = 1 } }", "portero.conf:1: unknown plan; the plans are weekly and yearly");
    refuse("include(\"/etc/passwd\")", "portero.conf:1: no such option 'include'");
}

static void syntax_errors_are_refused_with_file_and_line(void **state)
{
    (void)state;
    refuse("mode = {a, b}", "portero.conf:1: unexpected token '{'");
    refuse("\nmode", "portero.conf:2: premature end of file");
    refuse("mode = \"sandbox\n", "portero.conf:2: premature end of file");
    refuse("limits x { }", "portero.conf:1: missing opening brace for section 'limits'");
}

static void lines_are_counted_after_comments_and_strings(void **state)
{
    (void)state;
    static const char *const before[] = {
        "# one\n\n",         "// one\n#two\n",       "/* one\n two */\n",       "/**/\n/*/ */\n",
        "limits { # }\n}\n", "data_dir = '#\n/*'\n", "data_dir = \"\\\"#\n\"\n"};
    for (size_t i = 0; i < COUNT(before); i++) {
        char text[100];
        snprintf(text, sizeof text, "%smode = party # hard\n", before[i]);
        refuse(text, "portero.conf:3: mode must be one of sandbox, production");
    }
}

static void comment_signs_in_a_value_do_not_begin_a_comment(void **state)
{
    (void)state;
    struct config *c = load("data_dir = \"#/*\" store { dsn = 'a//b' } mail { url = smtp://mail.example.com }");
    assert_string_equal(c->top_data_dir, "#/*");
    assert_string_equal(c->store_dsn, "a//b");
    assert_string_equal(c->mail_url, "smtp://mail.example.com");
    config_free(c);
}

/* SERVICE-4 */
static void unclosed_braces_and_comments_are_refused_at_their_line(void **state)
{
    (void)state;
    refuse("# cut off\nlimits {\n  otp_per_ip = 5\n", "portero.conf:2: not closed");
    refuse("billing {\n  plan weekly {\n    amount = 5\n  }\n", "portero.conf:1: not closed");
    refuse("billing {\n  plan weekly {\n", "portero.conf:2: not closed");
    refuse("limits { # }\n", "portero.conf:1: not closed");
    refuse("\n\n/* mode = sandbox\n", "portero.conf:3: not closed");
    refuse("\n/*/", "portero.conf:2: not closed");
}

static void binary_files_are_refused(void **state)
{
    (void)state;
    static char large[(1 << 20) + 1];
    write_file("portero.conf", STR("mode = sandbox\n\0mode = party\n"));
    refuse_path("portero.conf", "portero.conf: is not a text");
    memset(large, '\n', sizeof large);
    write_file("portero.conf", str_n(large, sizeof large));
    refuse_path("portero.conf", "portero.conf: is larger than 1 MiB");
    write_file("portero.conf", str_n(large, sizeof large - 1));
    config_free(load_path("portero.conf"));
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
    (void)state;
    refuse_path("missing.conf", "missing.conf: No such file or directory");
    refuse_path("/tmp", "/tmp: Is a directory");
}

static void an_invalid_variable_is_named(void **state)
{
    (void)state;
    setenv("PORTERO_LIMITS_OTP_PER_IP", "none", 1);
    refuse("", "environment: PORTERO_LIMITS_OTP_PER_IP must be from 1 to 100000000");
    unsetenv("PORTERO_LIMITS_OTP_PER_IP");
    setenv("PORTERO_TRUSTED_PROXIES", "10.0.0.0/8,x", 1);
    refuse("", "environment: PORTERO_TRUSTED_PROXIES must be a list of CIDR blocks, like 10.0.0.0/8");
    unsetenv("PORTERO_TRUSTED_PROXIES");
    setenv("PORTERO_BILLING_PLAN_WEEKLY_INTERVAL", "decade", 1);
    refuse("", "environment: PORTERO_BILLING_PLAN_WEEKLY_INTERVAL must be one of day, week, month, year");
}

/* ---- checks across keys ---- */

/* SERVICE-5 */
static void keys_that_depend_on_each_other_are_checked(void **state)
{
    (void)state;
    refuse("tls { certificate = a.pem }", "portero.conf:1: tls.certificate is given, so tls.key must be too");
    refuse("\ntls { key = a.pem }", "portero.conf:2: tls.key is given, so tls.certificate must be too");
    refuse("store { engine = postgresql }", "portero.conf: store.dsn is required with store.engine postgresql");
    refuse("mail { provider = smtp }", "portero.conf: mail.url is required with mail.provider smtp");
    refuse("sms { provider = twilio } twilio { from = '+15550001111' }",
           "portero.conf: twilio.account_sid is required with sms.provider twilio\n"
           "portero.conf: twilio.auth_token is required with sms.provider twilio");
    refuse("numbers { provider = twilio } twilio { account_sid = AC0 }",
           "portero.conf: twilio.auth_token is required with numbers.provider twilio");
    refuse("sms { provider = twilio } twilio { account_sid = AC0 auth_token = t }",
           "portero.conf: twilio.from is required with sms.provider twilio");
    refuse("numbers { provider = twilio } twilio { account_sid = AC0 auth_token = t url = 'http://10.0.0.1' }",
           "portero.conf:1: twilio.url must begin with https:, or be on this machine");
    refuse(
        "billing { provider = stripe }\nstripe { url = 'http://10.0.0.1' }",
        "portero.conf:2: stripe.url must begin with https:, or be on this machine\n"
        "portero.conf: stripe.secret_key is required with billing.provider stripe\n"
        "portero.conf: stripe.webhook_secret is required with billing.provider stripe\n"
        "portero.conf: billing.plan.weekly.stripe_price, or another plan's, is required with billing.provider stripe");
    refuse("billing { provider = stripe plan yearly { stripe_price = price_1 } } stripe { webhook_secret = whsec_1 }",
           "portero.conf: stripe.secret_key is required with billing.provider stripe");
    refuse("data_dir = ''", "portero.conf:1: data_dir must not be empty");
    refuse("listen {\nhttps = '' http = '' }", "portero.conf:2: listen.https and listen.http must not both be empty");
}

static void production_requires_real_providers_and_keys(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *why; /* why: the error until the variable is set */
    } steps[] = {
        {"MAIL_PROVIDER", "smtp", "portero.conf: mail.provider must not be sandbox in production"},
        {"MAIL_URL", "smtps://mail.example.com", "portero.conf: mail.url is required with mail.provider smtp"},
        {"SMS_PROVIDER", "twilio", "portero.conf: sms.provider must not be sandbox in production"},
        {"TWILIO_ACCOUNT_SID", "AC0", "portero.conf: twilio.account_sid is required with sms.provider twilio"},
        {"TWILIO_AUTH_TOKEN", "t", "portero.conf: twilio.auth_token is required with sms.provider twilio"},
        {"TWILIO_FROM", "+15550001111", "portero.conf: twilio.from is required with sms.provider twilio"},
        {"NUMBERS_PROVIDER", "twilio", "portero.conf: numbers.provider must not be sandbox in production"},
        {"VOICE_PROVIDER", "sip", "portero.conf:1: voice.provider must not be sandbox in production"},
        {"BILLING_PROVIDER", "stripe", "portero.conf: billing.provider must not be sandbox in production"},
        {"STRIPE_SECRET_KEY", "sk_1", "portero.conf: stripe.secret_key is required with billing.provider stripe"},
        {"STRIPE_WEBHOOK_SECRET", "whsec_1",
         "portero.conf: stripe.webhook_secret is required with billing.provider stripe"},
        {"BILLING_PLAN_WEEKLY_STRIPE_PRICE", "price_1", "portero.conf: billing.plan.weekly.stripe_price, or another"},
        {"SECRETS_MASTER_KEY", "file:/run/secrets/master",
         "portero.conf: secrets.master_key is required in production"},
        {"TLS_CERTIFICATE", "a.pem", "portero.conf: tls.certificate is required in production"},
        {"TLS_KEY", "k.pem", "environment: tls.certificate is given, so tls.key must be too"},
        {"PUBLIC_URL", "https://door.example.com", "portero.conf:1: public_url must begin with https: in production"},
    };
    static const char text[] = "mode = production voice { provider = sandbox } public_url = 'http://door.example.com'";
    write_file("portero.conf", str_z(text));
    for (size_t i = 0; i < COUNT(steps); i++) {
        char name[100], *why = NULL;
        struct config *c;
        assert_int_equal(config_load("portero.conf", &c, &why), ERR_USAGE);
        assert_non_null(strstr(why, steps[i].why));
        free(why);
        snprintf(name, sizeof name, "PORTERO_%s", steps[i].name);
        setenv(name, steps[i].value, 1);
    }
    struct config *c = load(text);
    assert_true(c->production);
    config_free(c);
}

/* SERVICE-1 */
static void all_errors_are_reported_at_once(void **state)
{
    (void)state;
    setenv("PORTERO_LIMITS_AUTH_PER_IP", "many", 1);
    refuse("colour = red\n"
           "limits {\n"
           "  otp_per_ip = 0\n"
           "  plans_per_iq = { 1, { 2 } }\n"
           "}\n"
           "lights { on = { a = b } }\n"
           "listen { https = nowhere http = '' }\n"
           "mail { provider = smtp url = 'ftp://x' }\n"
           "store { engine = postgresql }\n",
           "portero.conf:1: no such option 'colour'\n"
           "portero.conf:3: limits.otp_per_ip must be from 1 to 100000000\n"
           "portero.conf:4: no such option 'plans_per_iq'; did you mean limits.plans_per_ip?\n"
           "portero.conf:6: no such option 'lights'\n"
           "portero.conf:7: listen.https must be ADDRESS:PORT, like 127.0.0.1:8443, [::1]:8443 or localhost:8443\n"
           "portero.conf:8: mail.url must be a URL with a host and one of the schemes smtp, smtps\n"
           "environment: PORTERO_LIMITS_AUTH_PER_IP must be from 1 to 100000000\n"
           "portero.conf: store.dsn is required with store.engine postgresql");
}

/* SERVICE-3 */
static void a_misspelt_variable_is_refused(void **state)
{
    (void)state;
    setenv("PORTERO_LIMTS_OTP_PER_IP", "1", 1);
    refuse("", "environment: PORTERO_LIMTS_OTP_PER_IP is not a key; did you mean PORTERO_LIMITS_OTP_PER_IP?");
    unsetenv("PORTERO_LIMTS_OTP_PER_IP");
    setenv("PORTERO_COLOUR", "red", 1);
    refuse("", "environment: PORTERO_COLOUR is not a key: they are called PORTERO_SECTION_KEY");
    unsetenv("PORTERO_COLOUR");
}

/* SERVICE-3 */
static void known_variables_that_are_not_keys_are_ignored(void **state)
{
    (void)state;
    setenv("PORTERO_URL", "https://localhost:8443", 1);
    setenv("PORTERO_MY_MASTER_KEY", "0", 1);
    setenv("PORTERO_MY_PASSWORD", "p", 1);
    setenv("PORTERO_MY_DSN", "d", 1);
    setenv("PORTERO_STRIPE_SECRET_KEY", "env:PORTERO_MY_DSN", 1);
    config_free(
        load("secrets { master_key = 'env:PORTERO_MY_MASTER_KEY' } mail { password = \"${PORTERO_MY_PASSWORD}\" }"));
}

/* ---- secrets ---- */

static void assert_secret(const char *value, const char *want)
{
    struct arena a;
    struct str got;
    char *why = NULL;
    arena_init(&a, NULL, 0);
    assert_int_equal(config_secret_of("mail.password", value, &a, &got, &why), ERR_NONE);
    assert_text(got, want);
    assert_int_equal(got.p[got.n], '\0');
    arena_done(&a);
}

static void secrets_come_from_the_value_a_file_or_a_variable(void **state)
{
    (void)state;
    assert_secret("plain", "plain");
    assert_secret("", "");
    setenv("PORTERO_TEST_SECRET", "from outside", 1);
    assert_secret("env:PORTERO_TEST_SECRET", "from outside");
    write_file("secret", STR("from a file\n"));
    assert_secret("file:secret", "from a file");
    write_file("secret", STR("two\n\r\n"));
    assert_secret("file:secret", "two\n");
    write_file("secret", STR("none"));
    assert_secret("file:secret", "none");
    write_file("secret", STR(""));
    assert_secret("file:secret", "");
    write_file("secret", STR("\n"));
    assert_secret("file:secret", "");
}

static void assert_no_secret(const char *value, const char *want)
{
    struct arena a;
    struct str got = STR("untouched");
    char *why = NULL;
    arena_init(&a, NULL, 0);
    assert_int_equal(config_secret_of("mail.password", value, &a, &got, &why), ERR_USAGE);
    assert_string_equal(why, want);
    assert_text(got, "untouched");
    free(why);
    arena_done(&a);
}

/* SERVICE-2 */
static void a_missing_secret_is_reported_with_its_key(void **state)
{
    (void)state;
    assert_no_secret("env:PORTERO_TEST_SECRET", "mail.password: environment variable PORTERO_TEST_SECRET is not set");
    assert_no_secret("file:missing:it", "mail.password: missing:it: No such file or directory");
    assert_no_secret("file:/", "mail.password: /: Is a directory");
}

static void a_credential_is_a_file_of_the_service_manager(void **state)
{
    (void)state;
    mkdir("credentials", 0700);
    setenv("CREDENTIALS_DIRECTORY", "credentials", 1);
    write_file("credentials/portero.mail.password", STR("from systemd\n"));
    assert_secret("cred:portero.mail.password", "from systemd");
    assert_no_secret("cred:other", "mail.password: credentials/other: No such file or directory");
    assert_no_secret("cred:../secret", "mail.password: cred:NAME must have the name of a file");
    assert_no_secret("cred:..", "mail.password: cred:NAME must have the name of a file");
    assert_no_secret("cred:", "mail.password: cred:NAME must have the name of a file");
    struct config *c = load("tls { certificate = 'cred:certificate' key = 'cred:key' }");
    assert_string_equal(c->tls_key, "credentials/key");
    config_free(c);
    refuse("tls { key = 'cred:a/b' }", "portero.conf:1: tls.key must be a file, or cred:NAME with the name of one");
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_no_secret("cred:portero.none", "mail.password: /etc/credstore/portero.none: No such file or directory");
    unlink("credentials/portero.mail.password");
    rmdir("credentials");
}

static void a_secret_file_has_at_most_64_kib(void **state)
{
    (void)state;
    struct arena a;
    struct str got;
    char *why = NULL;
    static char large[65537];
    memset(large, 'x', sizeof large);
    write_file("secret", str_n(large, sizeof large));
    assert_no_secret("file:secret", "mail.password: secret: File too large");
    write_file("secret", str_n(large, sizeof large - 1));
    arena_init(&a, NULL, 0);
    assert_int_equal(config_secret_of("mail.password", "file:secret", &a, &got, &why), ERR_NONE);
    assert_int_equal(got.n, 65536);
    arena_done(&a);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, config_fixture_setup, config_fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(an_empty_file_gives_the_defaults),
        T(the_file_sets_values),
        T(plans_keep_defaults_of_keys_not_given),
        T(peers_have_their_own_settings),
        T(a_peer_with_a_server_is_a_trunk),
        T(invalid_servers_are_refused),
        T(invalid_peers_are_refused),
        T(the_environment_overrides_the_file),
        T(the_command_line_overrides_the_environment),
        T(an_invalid_value_on_the_command_line_names_its_option),
        T(values_out_of_range_are_refused_with_file_and_line),
        T(addresses_are_checked),
        T(blocks_are_checked),
        T(urls_are_checked),
        T(provider_urls_must_be_https_or_local),
        T(greetings_follow_the_rules_of_the_interface),
        T(unknown_and_repeated_keys_are_refused),
        T(syntax_errors_are_refused_with_file_and_line),
        T(lines_are_counted_after_comments_and_strings),
        T(comment_signs_in_a_value_do_not_begin_a_comment),
        T(unclosed_braces_and_comments_are_refused_at_their_line),
        T(binary_files_are_refused),
        T(a_file_that_cannot_be_read_is_named),
        T(an_invalid_variable_is_named),
        T(keys_that_depend_on_each_other_are_checked),
        T(production_requires_real_providers_and_keys),
        T(all_errors_are_reported_at_once),
        T(a_misspelt_variable_is_refused),
        T(known_variables_that_are_not_keys_are_ignored),
        T(secrets_come_from_the_value_a_file_or_a_variable),
        T(a_credential_is_a_file_of_the_service_manager),
        T(a_secret_file_has_at_most_64_kib),
        T(a_missing_secret_is_reported_with_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
