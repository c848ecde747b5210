/* The operator's commands that ask a running service, as they are typed: what they send over the control socket, what
 * they print of its answer, and what they return. The service is a socket that answers as the row says. */
#include "cli/control.h"
#include "cli/program.h"
#include "net/receiver.h"

#include "base/unit.h"
#include "client/typed.h"

#define ID "6b018faceb9d0c2ba6000001"

struct row {
    const char *typed;       /* without --data */
    const char *head, *body; /* of the answer: "200 OK" */
    const char *sent;        /* the request's line and body, joined by a blank; NULL: none may be sent */
    int status;
    const char *out, *err;
};

static char directory[] = "/tmp/portero-admin-XXXXXX";
static char path[64];
static struct receiver *service;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these two */
static const struct row *row;
static char request[RECEIVED_MAX + 1];

/* The second request of a row gets the answer behind the first one's NUL. */
static bool answer_row(struct received *q, void *context)
{
    char text[TYPED_MAX];
    (void)context;
    pthread_mutex_lock(&lock);
    const char *body = *request ? row->body + strlen(row->body) + 1 : row->body;
    const size_t n = strlen(request), line = strcspn(q->text, "\r");
    snprintf(request + n, sizeof request - n, "%s%.*s%s%.*s", n ? " " : "", (int)(line - strlen(" HTTP/1.1")), q->text,
             q->body.n ? " " : "", STR_ARG(q->body));
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", row->head, strlen(body), body);
    pthread_mutex_unlock(&lock);
    return received_say(q, str_z(text));
}

static int open_service(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/%s", directory, CONTROL_SOCKET);
    service = receiver_open_at(path, answer_row, NULL);
    return 0;
}

static int close_service(void **state)
{
    (void)state;
    receiver_close(service);
    return unlink(path) || rmdir(directory);
}

static void begin_row(const struct row *r)
{
    pthread_mutex_lock(&lock);
    row = r;
    *request = '\0';
    pthread_mutex_unlock(&lock);
}

static void check(const struct row *r)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char words[1024];
    snprintf(words, sizeof words, "%s --data %s", r->typed, directory);
    begin_row(r);
    const int status = typed(&service_program, words, out, err);
    typed_replace(err, directory, "DIR");
    pthread_mutex_lock(&lock);
    if (status != r->status || strcmp(out, r->out) != 0 || strcmp(err, r->err) != 0 ||
        strcmp(request, r->sent ? r->sent : "") != 0)
        fail_msg("porterod %s: exit %d\nout: %s\nerr: %s\nsent: %s", words, status, out, err, request);
    pthread_mutex_unlock(&lock);
}

static void check_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&rows[i]);
}

/* ---- requests ---- */

#define SENDS(words, what)                                                                                             \
    {                                                                                                                  \
        words, "200 OK", "{}", what, 0, "", ""                                                                         \
    }

static const struct row requests[] = {
    SENDS("admin status", "GET /admin/status"),
    SENDS("rekey", "POST /admin/rekey"),
    SENDS("admin key create --building " ID " --scopes logs:read,access:read --days 7",
          "POST /admin/keys {\"building_id\":\"" ID "\",\"scopes\":[\"logs:read\",\"access:read\"],"
          "\"expires_in_days\":7}"),
    SENDS("admin key create", "POST /admin/keys {}"),
    SENDS("admin key create --scopes ,", "POST /admin/keys {\"scopes\":[\"\",\"\"]}"), /* for the service to refuse */
    SENDS("admin number add +15550100000 --account ada@example.com --country CA",
          "POST /admin/numbers {\"account\":\"ada@example.com\",\"country\":\"CA\",\"number\":\"+15550100000\"}"),
    SENDS("admin number release +15550100000", "DELETE /admin/numbers?number=%2B15550100000"),
    SENDS("admin member remove " ID " --end-grants", "DELETE /admin/members/" ID "?end_grants=true"),
    SENDS("admin member list --building " ID, "GET /admin/members?building_id=" ID),
    SENDS("admin box add hall --number +1555", "POST /admin/boxes {\"number\":\"+1555\",\"name\":\"hall\"}"),
    SENDS("admin delivery list --account a@b.example --status pending",
          "GET /admin/deliveries?email=a%40b.example&status=pending"),
    SENDS("admin checkout resolve c1 --outcome complete --session s1",
          "POST /admin/checkouts/resolve {\"outcome\":\"complete\",\"session_id\":\"s1\",\"checkout_id\":\"c1\"}"),
    SENDS("admin account add a@b.example c@d.example",
          "POST /admin/accounts {\"emails\":[\"a@b.example\",\"c@d.example\"]}"),
    SENDS("admin explain --building " ID " --at 2026-11-24T09:30:00-05:00 --digits 12#",
          "GET /admin/explain?building_id=" ID "&at=2026-11-24T09%3A30%3A00-05%3A00&digits=12%23"),
    SENDS("admin greeting remove --building " ID " --which welcome",
          "DELETE /admin/greetings?building_id=" ID "&which=welcome"),
    /* an operand remains one segment of the path, and one value of the query */
    SENDS("admin call show ../keys?x=1&y#z", "GET /admin/calls/..%2Fkeys%3Fx%3D1%26y%23z"),
    SENDS("admin account show a&email=b%00", "GET /admin/accounts?email=a%26email%3Db%2500"),
    SENDS("admin box add \"}\\", "POST /admin/boxes {\"name\":\"\\\"}\\\\\"}"),
    SENDS("admin request --data=/nonexistent r\xc3\xa9q", "GET /admin/requests?request_id=r%C3%A9q"),
};

static void options_and_operands_become_a_request(void **state)
{
    (void)state;
    check_all(requests, COUNT(requests));
}

/* ---- answers ---- */

static const struct row answers[] = {
    {"admin status", "200 OK", "{\"ready\":false,\"reasons\":[\"store\",\"sip\"],\"oldest_job_s\":null}",
     "GET /admin/status", 0, "ready         no\nreasons       store,sip\noldest_job_s  -\n", ""},
    {"admin status --json", "200 OK", "{\"ready\":true, \"calls\":1}", "GET /admin/status", 0,
     "{\"ready\":true, \"calls\":1}\n", ""},
    {"admin box list", "200 OK", "{\"data\":[{\"name\":\"hall\",\"number\":null},{\"name\":\"b\",\"number\":\"+1\"}]}",
     "GET /admin/boxes", 0, "name  number\nhall  -\nb     +1\n", ""},
    {"admin box list", "200 OK", "{\"data\":[]}", "GET /admin/boxes", 0, "none\n", ""},
    {"admin account show a", "200 OK", "{\"email\":\"a\\u001b]0;x\\u0007\\n\\u202eb\"}", "GET /admin/accounts?email=a",
     0,
     "email  a?]0;x??"
     "?b\n",
     ""},
    {"admin account show a", "404 Not Found", "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"It was not found.\"}}",
     "GET /admin/accounts?email=a", 1, "", "porterod: It was not found. (NOT_FOUND)\n"},
    {"admin account show a --json", "422 Unprocessable Entity",
     "{\"error\":{\"code\":\"VALIDATION_ERROR\",\"message\":\"a\\u001b[2J\\nb\"}}", "GET /admin/accounts?email=a", 1,
     "", "porterod: a [2J b (VALIDATION_ERROR)\n"},
    {"admin status", "503 Service Unavailable", "{}", "GET /admin/status", 1, "",
     "porterod: the request failed (no code)\n"},
    {"admin status", "503 Service Unavailable", "{\"error\":{\"code\":5,\"message\":[]}}", "GET /admin/status", 1, "",
     "porterod: the request failed (no code)\n"},
    {"admin status", "200 OK", "", "GET /admin/status", 1, "", "porterod: the service responded 200 without JSON\n"},
    {"admin status", "200 OK", "[1]", "GET /admin/status", 1, "", "porterod: the service responded 200 without JSON\n"},
    {"rekey", "502 Bad Gateway", "<html>", "POST /admin/rekey", 1, "",
     "porterod: the service responded 502 without JSON\n"},
    {"health", "200 OK", "{\"ready\":true,\"reasons\":[]}", "GET /admin/health", 0, "ready\n", ""},
    {"health", "200 OK", "{\"ready\":false,\"reasons\":[\"the store does not respond\",\"a\\u001bb\"]}",
     "GET /admin/health", 1, "not ready: the store does not respond, a?b\n", ""},
    {"health", "200 OK", "{\"ready\":\"yes\"}", "GET /admin/health", 1, "not ready\n", ""},
    {"health", "404 Not Found", "{\"ready\":true}", "GET /admin/health", 1, "",
     "porterod: the service responded 404\n"},
    {"health", "200 OK", "ready", "GET /admin/health", 1, "", "porterod: the service responded 200\n"},
};

static void answers_are_printed_and_decide_the_exit_status(void **state)
{
    (void)state;
    check_all(answers, COUNT(answers));
}

/* ---- questions ---- */

/* Runs the row with these bytes on standard input. */
static void check_answering(const char *text, const struct row *r)
{
    const int kept = dup(STDIN_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(text, file);
    rewind(file);
    assert_true(dup2(fileno(file), STDIN_FILENO) >= 0);
    clearerr(stdin);
    check(r);
    (void)fflush(stdin); /* drops what was read ahead */
    assert_true(dup2(kept, STDIN_FILENO) >= 0);
    close(kept);
    fclose(file);
}

#define ASKED   "Delete the account, its buildings and all that is held of it: a? Type yes: "
#define DELETES "POST /admin/accounts/delete {\"account\":\"a\"}"
#define UNDONE                                                                                                         \
    {                                                                                                                  \
        "admin account delete a", "200 OK", "{}", NULL, 1, "", ASKED "porterod: nothing was done\n"                    \
    }

static const struct {
    const char *input;
    struct row row;
} confirmations[] = {
    {"yes\n", {"admin account delete a", "200 OK", "{}", DELETES, 0, "", ASKED}},
    {"", {"admin account delete a --yes", "200 OK", "{}", DELETES, 0, "", ""}},
    {"", UNDONE},
    {"\n", UNDONE},
    {"y\n", UNDONE},
    {"YES\n", UNDONE},
    {"yes", UNDONE},
    {"yes please\n", UNDONE},
    {"no\nyes\n", UNDONE},
    {"",
     {"admin person erase +1555", "200 OK", "{}", NULL, 1, "",
      "Erase the person at all doors: +1555? Type yes: porterod: nothing was done\n"}},
};

static void only_the_whole_word_yes_does_what_cannot_be_undone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(confirmations); i++)
        check_answering(confirmations[i].input, &confirmations[i].row);
}

/* ---- a person, part by part ---- */

#define READS "POST /admin/persons/read {\"person\":\"+1555\"}"
#define AFTER " POST /admin/persons/read {\"person\":\"+1555\",\"after\":\"m1\"}"

static const struct row persons[] = {
    {"admin person find +1555", "200 OK", "{\"found\":[],\"rows\":null,\"next\":null}", READS, 0, "none\n", ""},
    /* a table that goes on in the next part is one */
    {"admin person find +1555", "200 OK",
     "{\"found\":[{\"table\":\"call\",\"rows\":1},{\"table\":\"visit\",\"rows\":2}],\"next\":\"m1\"}\0"
     "{\"found\":[{\"table\":\"visit\",\"rows\":3},{\"table\":\"push\",\"rows\":1}],\"next\":null}",
     READS AFTER, 0, "table  rows\ncall   1\nvisit  5\npush   1\n", ""},
    {"admin person find +1555 --json", "200 OK", "{\"found\":[{\"table\":\"call\",\"rows\":1}],\"next\":null}", READS,
     0, "{\"data\":[{\"table\":\"call\",\"rows\":1}]}\n", ""},
    {"admin person export +1555", "200 OK", "{\"found\":[],\"rows\":\"{\\\"a\\\":1}\",\"next\":null}", READS, 0,
     "[\n{\"a\":1}\n]\n", ""},
    {"admin person export +1555", "200 OK",
     "{\"rows\":\"{\\\"a\\\":1}\",\"next\":\"m1\"}\0{\"rows\":\"{\\\"a\\\":2}\",\"next\":null}", READS AFTER, 0,
     "[\n{\"a\":1},\n{\"a\":2}\n]\n", ""},
    {"admin person export +1555", "200 OK", "{\"rows\":\"\",\"next\":null}", READS, 0, "[\n]\n", ""},
    /* a document that lacks its end is not JSON */
    {"admin person export +1555", "200 OK", "{\"rows\":\"{\\\"a\\\":1}\",\"next\":\"m1\"}\0broken", READS AFTER, 1,
     "[\n{\"a\":1}", "porterod: the service responded 200 without JSON\n"},
    {"admin person find +1555", "404 Not Found",
     "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"Nothing is held.\"}}", READS, 1, "",
     "porterod: Nothing is held. (NOT_FOUND)\n"},
};

static void a_person_is_read_part_by_part(void **state)
{
    (void)state;
    check_all(persons, COUNT(persons));
}

/* ---- on a terminal ---- */

static const struct {
    const char *typed, *body, *shown;
} hostile[] = {
    {"admin box list", "{\"data\":[{\"name\":\"\xc2\x9b[Jx\\u001b[0m\"}]}", "name\n?[Jx?[0m\n"},
    {"admin box list --json", "{\"name\":\"\xc2\x9b\xe2\x80\xaex\"}", "{\"name\":\"\\u009b\\u202ex\"}\n"},
    /* text of visitors */
    {"admin person export +1555", "{\"rows\":\"{\\\"a\\\":\\\"\xc2\x9b\xe2\x80\xaex\\\"}\"}",
     "[\n{\"a\":\"\\u009b\\u202ex\"}\n]\n"},
};

static void text_of_others_does_not_command_the_terminal(void **state)
{
    static char shown[TYPED_MAX];
    char words[128];
    (void)state;
    for (size_t i = 0; i < COUNT(hostile); i++) {
        const struct row r = {.head = "200 OK", .body = hostile[i].body};
        snprintf(words, sizeof words, "%s --data %s", hostile[i].typed, directory);
        begin_row(&r);
        assert_int_equal(typed_on_terminal(&service_program, words, shown), 0);
        assert_string_equal(shown, hostile[i].shown);
    }
}

/* ---- help ---- */

/* A name that is longer than its column must be whole, too. */
static void the_help_has_each_verb_with_its_operand(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    char line[200];
    const struct command *admin = service_program.at(0), *c;
    (void)state;
    for (size_t i = 1; strcmp(admin->name, "admin") != 0; i++)
        admin = service_program.at(i);
    assert_int_equal(typed(&service_program, "admin --help", out, err), 0);
    for (size_t i = 0; (c = admin->verb(admin, i)); i++) {
        snprintf(line, sizeof line, "\n  %s%s%s", c->name + strlen("admin "), c->operands ? " " : "",
                 c->operands ? c->operands : "");
        const char *at = strstr(out, line);
        if (!at || !strchr(" \n", at[strlen(line)]))
            fail_msg("the help lacks %s", line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_become_a_request),
        cmocka_unit_test(answers_are_printed_and_decide_the_exit_status),
        cmocka_unit_test(only_the_whole_word_yes_does_what_cannot_be_undone),
        cmocka_unit_test(a_person_is_read_part_by_part),
        cmocka_unit_test(text_of_others_does_not_command_the_terminal),
        cmocka_unit_test(the_help_has_each_verb_with_its_operand),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
