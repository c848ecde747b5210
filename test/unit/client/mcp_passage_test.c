/* Messages of an assistant on their way to a service and back, as `portero mcp` passes them on. */
#include "client/mcp_passage.h"
#include "net/receiver.h"

#include "base/unit.h"
#include "client/typed.h"

#define META   "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"
#define PLAIN  "application/json"
#define STREAM "text/event-stream"

static const struct row {
    const char *message;
    const char *head, *type, *body; /* of the answer */
    const char *with;               /* part of the request; NULL: any */
    const char *out, *err;
} rows[] = {
    /* a reply is passed on */
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "200 OK", PLAIN,
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "\r\nAuthorization: Bearer svc_agent_secret\r\n",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", ""},
    /* a notification has none */
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "202 Accepted", PLAIN, "", NULL, "", ""},
    /* headers repeat what the current revision wants there */
    {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"listUnlocks\"," META "}}", "202 Accepted", PLAIN, "",
     "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: listUnlocks\r\n", "", ""},
    {"{\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"portero:\\u00e9\"," META "}}", "202 Accepted",
     PLAIN, "", "\r\nMcp-Name: =?base64?cG9ydGVybzrDqQ==?=\r\n", "", ""},
    {"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\\r\\nX: y\"," META "}}", "202 Accepted", PLAIN, "",
     "\r\nMcp-Name: =?base64?YQ0KWDogeQ==?=\r\n", "", ""},
    /* a refusal of the whole request is an error of the message */
    {"{\"id\":7,\"method\":\"ping\"}", "401 Unauthorized", PLAIN,
     "{\"error\":{\"code\":\"INVALID_KEY\",\"message\":\"The key is not valid.\"}}", NULL,
     "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"The key is not valid.\",\"data\":"
     "{\"code\":\"INVALID_KEY\",\"message\":\"The key is not valid.\"}},\"id\":7}\n",
     "portero: the service responded 401: The key is not valid.\n"},
    {"{\"id\":7,\"method\":\"ping\"}", "502 Bad Gateway", "text/html", "<html>", NULL,
     "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"the service did not respond as "
     "expected\"},\"id\":7}\n",
     "portero: the service responded 502\n"},
    /* each event of a stream is a message; what is no message is left out */
    {"{\"id\":2,\"method\":\"subscriptions/listen\"}", "200 OK", STREAM,
     ": hello\n\ndata: {\"method\":\"a\"}\n\ndata:\n\ndata: nonsense\n\ndata: {\"id\":2,\"result\":{}}\n\n", NULL,
     "{\"method\":\"a\"}\n{\"id\":2,\"result\":{}}\n", ""},
    /* a subscription that breaks off must be asked for again */
    {"{\"id\":3,\"method\":\"subscriptions/listen\"}", "200 OK", STREAM,
     "data: {\"method\":\"a\"}\n\ndata: {\"method\"", NULL,
     "{\"method\":\"a\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
     "cancelled\",\"params\":{\"requestId\":3,\"reason\":"
     "\"the connection to the service broke\"}}\n",
     ""},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these two */
static const struct row *row;
static char request[RECEIVED_MAX + 1];

static bool answer_row(struct received *q, void *context)
{
    char text[4096];
    (void)context;
    pthread_mutex_lock(&lock);
    memcpy(request, q->text, q->n + 1);
    snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
             row->head, row->type, strlen(row->body), row->body);
    pthread_mutex_unlock(&lock);
    (void)received_say(q, str_z(text));
    return false;
}

/* Passes the message on to this address, and writes what is left at the end. */
static void pass(char *url, const char *message, char out[static TYPED_MAX], char err[static TYPED_MAX])
{
    const struct remote r = {.url = url, .key = (char[]){"svc_agent_secret"}};
    struct captured outs, errs;
    CURLM *multi = curl_multi_init();
    json_t *value = json_loads(message, 0, NULL);
    int running = 1, left;
    assert_non_null(value);
    capture(&outs, stdout);
    capture(&errs, stderr);
    struct passage *p = passage_new(&r, multi, value, str_z(message));
    while (running && curl_multi_perform(multi, &running) == CURLM_OK)
        (void)curl_multi_poll(multi, NULL, 0, 1000, NULL);
    const CURLMsg *done = curl_multi_info_read(multi, &left);
    const bool kept = done && passage_of(done->easy_handle) == p && passage_ended(p, done->data.result);
    release(&errs, stderr, err);
    release(&outs, stdout, out);
    passage_free(p);
    curl_multi_cleanup(multi);
    assert_true(kept);
    typed_replace(out, url, "URL");
    typed_replace(err, url, "URL");
}

static void messages_pass_to_the_service_and_back(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    struct receiver *service = receiver_open(false, answer_row, NULL);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        pthread_mutex_lock(&lock);
        row = &rows[i];
        pthread_mutex_unlock(&lock);
        pass(service->url, rows[i].message, out, err);
        pthread_mutex_lock(&lock);
        if (strcmp(out, rows[i].out) != 0 || strcmp(err, rows[i].err) != 0 ||
            (rows[i].with && !strstr(request, rows[i].with)) || !strstr(request, rows[i].message))
            fail_msg("%s\nout: %s\nerr: %s\nsent: %s", rows[i].message, out, err, request);
        pthread_mutex_unlock(&lock);
    }
    receiver_close(service);
}

/* A call may have been carried out, so it is not sent again. */
static bool hang_up(struct received *q, void *context)
{
    (void)q, (void)context;
    return false;
}

static void a_call_whose_connection_breaks_is_sent_once_and_answered_by_an_error(void **state)
{
    static char out[TYPED_MAX], err[TYPED_MAX];
    struct receiver *service = receiver_open(false, hang_up, NULL);
    (void)state;
    pass(service->url, "{\"id\":\"a\",\"method\":\"tools/call\"}", out, err);
    assert_int_equal(service->requests, 1);
    assert_non_null(strstr(out, "\"code\":-32603,\"message\":\"URL: "));
    assert_non_null(strstr(out, "; the call may have been carried out\"},\"id\":\"a\"}\n"));
    assert_non_null(strstr(err, "portero: URL: "));
    receiver_close(service);
}

static void a_subscription_is_known_by_its_id(void **state)
{
    const struct remote r = {.url = (char[]){"http://127.0.0.1:9"}};
    CURLM *multi = curl_multi_init();
    const char message[] = "{\"id\":5,\"method\":\"subscriptions/listen\"}";
    struct passage *p = passage_new(&r, multi, json_loads(message, 0, NULL), str_z(message));
    json_t *same = json_integer(5), *other = json_string("5");
    (void)state;
    assert_true(passage_listens(p));
    assert_true(passage_is(p, same));
    assert_false(passage_is(p, other));
    assert_false(passage_is(p, NULL));
    json_decref(same);
    json_decref(other);
    passage_free(p);
    passage_free(NULL);
    curl_multi_cleanup(multi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_pass_to_the_service_and_back),
        cmocka_unit_test(a_call_whose_connection_breaks_is_sent_once_and_answered_by_an_error),
        cmocka_unit_test(a_subscription_is_known_by_its_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
