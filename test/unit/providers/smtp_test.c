/* The SMTP provider against a relay in the test, on loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "providers/mail.h"

#define TALK_MAX    16384
#define CREDENTIALS "AHVzZXIAcGFzcw==" /* user, pass */

/* Replies 250 to every command, but `answer` to the one that begins with `refuse`. Records the session. */
struct relay {
    int fd;
    pthread_t thread;
    const char *refuse, *answer;
    char url[64];
    char heard[TALK_MAX];
    size_t n;
};

static void say(FILE *f, const char *line)
{
    fprintf(f, "%s\r\n", line);
    fflush(f);
}

static void hear(struct relay *r, const char *line)
{
    size_t n = strlen(line);
    if (r->n + n >= TALK_MAX)
        return;
    memcpy(r->heard + r->n, line, n + 1);
    r->n += n;
}

static const char *answer(const struct relay *r, const char *line)
{
    if (r->refuse && strncasecmp(line, r->refuse, strlen(r->refuse)) == 0)
        return r->answer;
    if (strncasecmp(line, "EHLO", 4) == 0)
        return "250-relay\r\n250 AUTH PLAIN";
    if (strncasecmp(line, "AUTH", 4) == 0)
        return "334 ";
    if (strncmp(line, CREDENTIALS, sizeof CREDENTIALS - 1) == 0)
        return "235 welcome";
    return strncasecmp(line, "DATA", 4) == 0 ? "354 go on" : "250 fine";
}

static void *relay_run(void *arg)
{
    struct relay *r = arg;
    char line[2048];
    bool data = false;
    int fd = accept(r->fd, NULL, NULL);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r+");
    if (!f)
        return NULL;
    say(f, "220 relay");
    while (fgets(line, sizeof line, f)) {
        hear(r, line);
        if (data && strcmp(line, ".\r\n") != 0)
            continue;
        const char *with = answer(r, line);
        data = !data && strncmp(with, "354", 3) == 0;
        say(f, with);
    }
    fclose(f);
    return NULL;
}

static int relay_open(void **state)
{
    struct relay *r = calloc(1, sizeof *r);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    if (!r)
        return -1;
    *state = r;
    r->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (r->fd < 0 || bind(r->fd, (struct sockaddr *)&at, n) || listen(r->fd, 1) ||
        getsockname(r->fd, (struct sockaddr *)&at, &n))
        return -1;
    snprintf(r->url, sizeof r->url, "smtp://127.0.0.1:%d", ntohs(at.sin_port));
    return 0;
}

static int relay_close(void **state)
{
    struct relay *r = *state;
    close(r->fd);
    free(r);
    return 0;
}

static struct config config_of(const struct relay *r)
{
    return (struct config){.mail_provider = "smtp",
                           .mail_url = r->url,
                           .mail_user = "",
                           .mail_password = "",
                           .mail_ca = "",
                           .mail_from = "Türhüter <portero@example.com>"};
}

static const struct mail_message message = {
    .id = {"6b018c4a45a00d327e000003", 24},
    .to = {"a@example.com", 13},
    .subject = {"Your code", 9},
    .text = {"Hello\n.\n.hidden\nlast line", 25},
    .created_us = 1795167000LL * 1000000,
};

static enum outcome send_with(struct relay *r, const struct config *c, const struct mail_message *m)
{
    struct mailer *mailer;
    char *why;
    assert_int_equal(mailer_new(c, NULL, &mailer, &why), ERR_NONE);
    assert_int_equal(pthread_create(&r->thread, NULL, relay_run, r), 0);
    enum outcome o = mailer->ops->send(mailer, m);
    mailer_free(mailer);
    shutdown(r->fd, SHUT_RDWR);
    pthread_join(r->thread, NULL);
    return o;
}

static enum outcome send_it(struct relay *r)
{
    struct config c = config_of(r);
    return send_with(r, &c, &message);
}

static void heard(const struct relay *r, const char *text)
{
    if (!strstr(r->heard, text))
        fail_msg("the relay did not hear %s but\n%s", text, r->heard);
}

static void test_a_message_is_proper_mail(void **state)
{
    struct relay *r = *state;
    assert_int_equal(send_it(r), OUTCOME_DONE);
    heard(r, "MAIL FROM:<portero@example.com>");
    heard(r, "RCPT TO:<a@example.com>");
    heard(r, "Date: Fri, 20 Nov 2026 09:30:00 +0000\r\n");
    heard(r, "From: =?UTF-8?B?VMO8cmjDvHRlcg==?= <portero@example.com>\r\n");
    heard(r, "To: a@example.com\r\n");
    heard(r, "Subject: Your code\r\n");
    heard(r, "Message-ID: <6b018c4a45a00d327e000003@example.com>\r\n");
    heard(r, "MIME-Version: 1.0\r\n");
    heard(r, "Content-Type: text/plain; charset=utf-8\r\n");
    heard(r, "Content-Transfer-Encoding: 7bit\r\n\r\nHello\r\n..\r\n..hidden\r\nlast line\r\n.\r\n");
    assert_null(strstr(r->heard, "AUTH"));
    assert_null(strstr(r->heard, "STARTTLS"));
}

static void test_text_beyond_ascii_is_base64(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    struct mail_message m = message;
    m.text = STR("Grüße\n");
    assert_int_equal(send_with(r, &c, &m), OUTCOME_DONE);
    heard(r, "Content-Transfer-Encoding: base64\r\n\r\nR3LDvMOfZQo=\r\n.\r\n");
}

static void test_html_is_sent_with_the_text(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    struct mail_message m = message;
    m.html = STR("<p>Hello</p>");
    assert_int_equal(send_with(r, &c, &m), OUTCOME_DONE);
    heard(r, "MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"");
    heard(r, "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\nHello\r\n");
    heard(r, "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n<p>Hello</p>\r\n");
}

static void test_with_mail_ca_a_local_relay_must_use_tls(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    c.mail_ca = "/etc/ssl/certs/ca-certificates.crt";
    assert_int_equal(send_with(r, &c, &message), OUTCOME_UNKNOWN); /* this relay has no STARTTLS */
    assert_null(strstr(r->heard, "MAIL"));
}

static void test_credentials_are_used(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    c.mail_user = "user";
    c.mail_password = "pass";
    assert_int_equal(send_with(r, &c, &message), OUTCOME_DONE);
    heard(r, "AUTH PLAIN");
    heard(r, CREDENTIALS "\r\n");
}

static void refused(void **state, const char *command, const char *with, enum outcome wanted)
{
    struct relay *r = *state;
    r->refuse = command;
    r->answer = with;
    assert_int_equal(send_it(r), wanted);
}

static void test_an_unknown_recipient_is_final(void **state)
{
    refused(state, "RCPT", "550 no such mailbox", OUTCOME_REFUSED);
}

static void test_a_busy_recipient_is_not_final(void **state)
{
    refused(state, "RCPT", "450 later", OUTCOME_UNKNOWN);
}

static void test_a_refused_message_is_final(void **state)
{
    refused(state, ".\r\n", "554 spam", OUTCOME_REFUSED);
}

static void test_a_refused_sign_in_is_not_final(void **state)
{
    refused(state, "MAIL", "530 authenticate first", OUTCOME_UNKNOWN);
}

static void test_a_header_cannot_be_injected(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    struct mail_message bad = message;
    bad.to = STR("a@example.com\r\nRCPT TO:<b@example.com>");
    assert_int_equal(send_with(r, &c, &bad), OUTCOME_REFUSED);
    assert_int_equal(r->n, 0);
}

static void test_an_unreachable_relay_is_not_final(void **state)
{
    struct relay *r = *state;
    struct config c = config_of(r);
    struct mailer *mailer;
    char *why;
    close(r->fd);
    r->fd = -1;
    assert_int_equal(mailer_new(&c, NULL, &mailer, &why), ERR_NONE);
    assert_int_equal(mailer->ops->send(mailer, &message), OUTCOME_UNKNOWN);
    mailer_free(mailer);
}

/* SERVICE-35 */
static void test_without_tls_only_a_local_relay_is_used(void **state)
{
    struct relay *r = *state; /* by a name that is not known to be local */
    struct config c = config_of(r);
    const char *port = strrchr(r->url, ':');
    char url[64];
    snprintf(url, sizeof url, "smtp://0.0.0.0%s", port);
    c.mail_url = url;
    assert_int_equal(send_with(r, &c, &message), OUTCOME_UNKNOWN);
    assert_null(strstr(r->heard, "MAIL"));
}

static void test_an_invalid_configuration_is_refused_with_the_name_of_the_key(void **state)
{
    struct config good = config_of(*state);
    const struct {
        const char *url, *from, *ca, *named;
    } cases[] = {
        {"", "p@example.com", "", "mail.url"},
        {"http://127.0.0.1:25", "p@example.com", "", "mail.url"},
        {"smtp://127.0.0.1:25", "Portero", "", "mail.from"},
        {"smtp://127.0.0.1:25", "a\r\nb <p@example.com>", "", "mail.from"},
        {"smtp://127.0.0.1:25", "p@example.com", "/nowhere/ca.pem", "mail.ca"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config c = good;
        struct mailer *mailer;
        char *why = NULL;
        c.mail_url = cases[i].url;
        c.mail_from = cases[i].from;
        c.mail_ca = cases[i].ca;
        assert_int_equal(mailer_new(&c, NULL, &mailer, &why), ERR_USAGE);
        assert_non_null(strstr(why, cases[i].named));
        free(why);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, relay_open, relay_close)
    const struct CMUnitTest tests[] = {
        TEST(test_a_message_is_proper_mail),
        TEST(test_text_beyond_ascii_is_base64),
        TEST(test_html_is_sent_with_the_text),
        TEST(test_with_mail_ca_a_local_relay_must_use_tls),
        TEST(test_credentials_are_used),
        TEST(test_an_unknown_recipient_is_final),
        TEST(test_a_busy_recipient_is_not_final),
        TEST(test_a_refused_message_is_final),
        TEST(test_a_refused_sign_in_is_not_final),
        TEST(test_a_header_cannot_be_injected),
        TEST(test_an_unreachable_relay_is_not_final),
        TEST(test_without_tls_only_a_local_relay_is_used),
        TEST(test_an_invalid_configuration_is_refused_with_the_name_of_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
