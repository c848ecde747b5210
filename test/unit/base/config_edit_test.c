#include "base/config_edit.h"

#include "base/config.h"
#include "config_fixture.h"

static const struct config_place url = {NULL, NULL, "public_url"}, sip = {"listen", NULL, "sip"},
                                 server = {"voice", "pbx", "server"}, pbx = {"voice", "pbx", NULL};

static void sets(const char *text, struct config_place at, const char *value, const char *want)
{
    struct arena a;
    arena_init(&a, NULL, 0);
    const struct str got = config_edit_set(&a, str_z(text), at, str_z(value));
    assert_string_equal(got.p, want);
    assert_int_equal(got.n, strlen(want));
    arena_done(&a);
}

static void removes(const char *text, struct config_place at, const char *want)
{
    struct arena a;
    arena_init(&a, NULL, 0);
    assert_string_equal(config_edit_remove(&a, str_z(text), at).p, want);
    arena_done(&a);
}

static void a_value_is_replaced_and_all_else_stays(void **state)
{
    (void)state;
    sets("# public_url = a\nmode = production\npublic_url = 'x' # the door's\n", url, "\"y\"",
         "# public_url = a\nmode = production\npublic_url = \"y\" # the door's\n");
    sets("log { format = json }\nlisten {\n  # sip = 1\n  /* sip = 2 */ sip=\"}\" // sip\n}\n", sip, "3",
         "log { format = json }\nlisten {\n  # sip = 1\n  /* sip = 2 */ sip=3 // sip\n}\n");
    sets("voice {\n  peers = {\"10.0.0.1\",\n  \"10.0.0.2\"} # two\n}\n", (struct config_place){"voice", NULL, "peers"},
         "{}", "voice {\n  peers = {} # two\n}\n");
}

static void a_key_is_found_in_its_own_section_only(void **state)
{
    (void)state;
    sets("voice {\n    peer a { server = x }\n    peer \"pbx\" { server = y }\n}\nserver { }\n", server, "z",
         "voice {\n    peer a { server = x }\n    peer \"pbx\" { server = z }\n}\nserver { }\n");
    sets("twilio {\n    url = x\n}\n", (struct config_place){"mail", NULL, "url"}, "y",
         "twilio {\n    url = x\n}\n\nmail {\n    url = y\n}\n");
}

static void a_missing_key_is_added_to_its_section(void **state)
{
    (void)state;
    sets("", url, "1", "public_url = 1\n");
    sets("# head\nmode = sandbox # m\nlisten { }\n", url, "1",
         "# head\nmode = sandbox # m\npublic_url = 1\nlisten { }\n");
    sets("mode = sandbox", url, "1", "mode = sandbox\npublic_url = 1\n");
    sets("listen {\n    http = \"\" # off }\n}\n", sip, "1", "listen {\n    http = \"\" # off }\n    sip = 1\n}\n");
    sets("listen { http = \"\" }\n", sip, "1", "listen { http = \"\"  sip = 1 }\n");
    sets("voice { calls = 4 }\n", server, "x", "voice { calls = 4 \n    peer pbx {\n        server = x\n    }\n}\n");
    sets("mode = sandbox\n", server, "x", "mode = sandbox\n\nvoice {\n    peer pbx {\n        server = x\n    }\n}\n");
}

static void a_key_or_section_is_removed_with_its_line(void **state)
{
    (void)state;
    removes("a = 1\nlisten {\n    sip = 1 # why\n    http = 2\n}\n", sip, "a = 1\nlisten {\n    http = 2\n}\n");
    removes("listen { sip = 1 http = 2 }\n", sip, "listen {  http = 2 }\n");
    removes("voice {\n    peer pbx {\n        server = x\n    }\n    peer b { server = y }\n}\n", pbx,
            "voice {\n    peer b { server = y }\n}\n");
    removes("listen { http = 2 }\n", sip, "listen { http = 2 }\n");
    removes("listen { http = 2 }\n", pbx, "listen { http = 2 }\n");
}

static void quoted_text_is_read_unchanged(void **state)
{
    static const char *const texts[] = {"a\"b", "a\\b",  "a\\\"$",           "${HOME}", "$x",
                                        "\\n",  "\\x41", "# no { comment }", "'",       "Zoë"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a;
        struct buf faults = BUF(CONFIG_FAULTS_MAX);
        arena_init(&a, NULL, 0);
        const struct str text =
            config_edit_set(&a, STR("mail { provider = smtp }\n"), (struct config_place){"mail", NULL, "user"},
                            config_edit_quoted(&a, str_z(texts[i])));
        struct config *c = config_read_text("portero.conf", text, &faults);
        assert_non_null(c);
        assert_string_equal(c->mail_user, texts[i]);
        config_free(c);
        buf_done(&faults);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_replaced_and_all_else_stays),
        cmocka_unit_test(a_key_is_found_in_its_own_section_only),
        cmocka_unit_test(a_missing_key_is_added_to_its_section),
        cmocka_unit_test(a_key_or_section_is_removed_with_its_line),
        cmocka_unit_test(quoted_text_is_read_unchanged),
    };
    return cmocka_run_group_tests(tests, config_fixture_setup, config_fixture_teardown);
}
