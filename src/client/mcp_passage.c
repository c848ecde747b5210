#include "client/mcp_passage.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "client/complain.h"
#include "client/print.h"

#define META       "io.modelcontextprotocol/"
#define ANSWER_MAX (16U << 20)
#define TIMEOUT_MS 60000L
#define SILENCE_S  45L /* of a subscription, in which the service sends something every 15 s */
#define REUSE_S    2L  /* a kept connection is used again for so long: no server closes it sooner */
#define PLAIN_MIN  0x20
#define PLAIN_MAX  0x7e

struct passage {
    const struct remote *remote;
    CURLM *multi;
    CURL *curl;
    struct curl_slist *headers;
    json_t *message;
    const json_t *id; /* NULL: a notification, or it cannot be read */
    bool listens;
    bool answered; /* a stream has given the response */
    bool broken;   /* nobody reads any more */
    unsigned sent;
    struct buf answer; /* the body, or the line of a stream that has begun */
    struct buf data;   /* of the event that has begun */
    long status;
};

/* ---- output ---- */

static bool write_message(const json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (text)
        print_json_line(str_z(text));
    const bool written = text && fflush(stdout) == 0 && !ferror(stdout);
    free(text);
    return written;
}

bool passage_write_error(const json_t *id, int code, const char *message, json_t *data)
{
    json_t *reply = json_pack("{s:s,s:{s:i,s:s}}", "jsonrpc", "2.0", "error", "code", code, "message", message);
    if (id)
        json_object_set(reply, "id", (json_t *)(uintptr_t)id);
    if (data)
        json_object_set(json_object_get(reply, "error"), "data", data);
    const bool written = write_message(reply);
    json_decref(reply);
    return written;
}

/* ---- the head of a request ---- */

/* Takes over the line, which may be NULL. */
static void append_passage_header(struct curl_slist **list, char *line)
{
    struct curl_slist *grown = line ? curl_slist_append(*list, line) : NULL;
    if (grown)
        *list = grown;
    free(line);
}

static bool is_plain_field(const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < PLAIN_MIN || (unsigned char)text[i] > PLAIN_MAX)
            return false;
    return n && text[0] != ' ' && text[n - 1] != ' ' && strncmp(text, "=?base64?", strlen("=?base64?")) != 0;
}

static void add_text(struct curl_slist **list, const char *name, const char *text)
{
    if (is_plain_field(text)) {
        append_passage_header(list, mem_printf("%s: %s", name, text));
        return;
    }
    char *encoded = mem_zeroed(1, BASE64_LEN(strlen(text)) + 1);
    base64_standard_encode(text, strlen(text), encoded);
    append_passage_header(list, mem_printf("%s: =?base64?%s?=", name, encoded));
    free(encoded);
}

/* Fields that repeat the body of messages of the current revision. */
static void add_repeated(const json_t *message, struct curl_slist **list)
{
    const json_t *params = json_object_get(message, "params");
    const char *revision = json_string_value(json_object_get(json_object_get(params, "_meta"), META "protocolVersion"));
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *name = json_string_value(json_object_get(params, "name"));
    if (!revision || !method)
        return;
    if (!name)
        name = json_string_value(json_object_get(params, "uri"));
    add_text(list, "MCP-Protocol-Version", revision);
    add_text(list, "Mcp-Method", method);
    if (name)
        add_text(list, "Mcp-Name", name);
}

/* ---- answers ---- */

static bool has_event_stream(const struct passage *p)
{
    const char *type = NULL;
    curl_easy_getinfo(p->curl, CURLINFO_CONTENT_TYPE, &type);
    return type && str_starts(str_z(type), STR("text/event-stream"));
}

/* The data of an event is a message. */
static void write_event(struct passage *p)
{
    json_t *message;
    if (p->data.n && !p->data.full && !json_read(buf_view(&p->data), &message)) {
        p->answered |= json_object_get(message, "id") != NULL;
        p->broken |= !write_message(message);
        json_decref(message);
    }
    p->data.n = 0;
}

static void take_stream_line(struct passage *p, struct str line)
{
    struct str value;
    const struct str name = str_cut(line, ':', &value);
    if (!line.n)
        write_event(p);
    else if (str_eq(name, STR("data")))
        buf_str(&p->data, value.n && value.p[0] == ' ' ? str_from(value, 1) : value);
}

static size_t passage_on_body(char *text, size_t size, size_t count, void *arg)
{
    struct passage *p = arg;
    const size_t n = size * count;
    if (!has_event_stream(p)) {
        buf_put(&p->answer, text, n);
        return p->answer.full ? 0 : n;
    }
    for (size_t i = 0; i < n && !p->broken; i++) {
        if (text[i] != '\n') {
            buf_char(&p->answer, text[i]);
            continue;
        }
        take_stream_line(p, buf_view(&p->answer));
        p->answer.n = 0;
    }
    return p->answer.full || p->broken ? 0 : n;
}

/* A message is sent once: a call may have been carried out although its connection broke.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int passage_on_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct passage *p = arg;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    return p->sent++ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static bool write_failure(const struct passage *p, CURLcode e)
{
    char *why = mem_printf("%s: %s%s", p->remote->url, remote_failure(e, p->remote),
                           p->sent ? "; the call may have been carried out" : "");
    complain("%s", why);
    const bool written = !p->id || passage_write_error(p->id, -32603, why, NULL);
    free(why);
    return written;
}

/* The service's own reply, or its refusal of the whole request, such as 401, as an error. */
static bool write_service_answer(const struct passage *p)
{
    json_t *answer = NULL;
    if (!p->answer.n && p->status < 300)
        return true;
    if (json_read(buf_view(&p->answer), &answer))
        answer = NULL;
    if (json_object_get(answer, "jsonrpc")) {
        const bool written = write_message(answer);
        json_decref(answer);
        return written;
    }
    json_t *error = json_object_get(answer, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    complain("the service responded %ld%s%s", p->status, message ? ": " : "", message ? message : "");
    const bool written =
        !p->id ||
        passage_write_error(p->id, -32603, message ? message : "the service did not respond as expected", error);
    json_decref(answer);
    return written;
}

/* A subscription that broke off: its client must ask again. */
static bool write_cancellation(const struct passage *p)
{
    json_t *message = json_pack("{s:s,s:s,s:{s:O,s:s}}", "jsonrpc", "2.0", "method", "notifications/cancelled",
                                "params", "requestId", p->id, "reason", "the connection to the service broke");
    const bool written = write_message(message);
    json_decref(message);
    return written;
}

bool passage_ended(struct passage *p, CURLcode e)
{
    curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &p->status);
    if (p->broken)
        return false;
    if (has_event_stream(p))
        return p->answered || !p->id || write_cancellation(p);
    return e ? write_failure(p, e) : write_service_answer(p);
}

/* ---- the passage ---- */

static void prepare_passage(struct passage *p, struct str line)
{
    char *url = mem_printf("%s/mcp", p->remote->url);
    p->headers = curl_slist_append(NULL, "Content-Type: application/json");
    append_passage_header(&p->headers, mem_strdup("Accept: application/json, text/event-stream"));
    append_passage_header(&p->headers, mem_strdup("Expect:"));
    add_repeated(p->message, &p->headers);
    p->headers = remote_authorize(p->remote, p->headers);
    remote_prepare(p->remote, p->curl);
    curl_easy_setopt(p->curl, CURLOPT_URL, url);
    curl_easy_setopt(p->curl, CURLOPT_MAXAGE_CONN, REUSE_S);
    curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)line.n);
    curl_easy_setopt(p->curl, CURLOPT_COPYPOSTFIELDS, line.p);
    curl_easy_setopt(p->curl, CURLOPT_PREREQFUNCTION, passage_on_send);
    curl_easy_setopt(p->curl, CURLOPT_PREREQDATA, p);
    curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, passage_on_body);
    curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(p->curl, CURLOPT_PRIVATE, p);
    curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, p->listens ? 0L : TIMEOUT_MS);
    if (p->listens) {
        curl_easy_setopt(p->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(p->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    }
    free(url);
}

struct passage *passage_new(const struct remote *r, CURLM *multi, json_t *message, struct str line)
{
    struct passage *p = mem_new(struct passage);
    const char *method = json_string_value(json_object_get(message, "method"));
    p->remote = r;
    p->multi = multi;
    p->message = message;
    p->id = json_object_get(message, "id");
    p->listens = p->id && method && strcmp(method, "subscriptions/listen") == 0;
    p->answer = BUF(ANSWER_MAX);
    p->data = BUF(ANSWER_MAX);
    p->curl = curl_easy_init();
    if (!p->curl)
        abort();
    prepare_passage(p, line);
    curl_multi_add_handle(multi, p->curl);
    return p;
}

void passage_free(struct passage *p)
{
    if (!p)
        return;
    curl_multi_remove_handle(p->multi, p->curl);
    curl_easy_cleanup(p->curl);
    curl_slist_free_all(p->headers);
    buf_done(&p->answer);
    buf_done(&p->data);
    json_decref(p->message);
    free(p);
}

struct passage *passage_of(CURL *curl)
{
    struct passage *p = NULL;
    curl_easy_getinfo(curl, CURLINFO_PRIVATE, &p);
    return p;
}

bool passage_listens(const struct passage *p)
{
    return p->listens;
}

bool passage_is(const struct passage *p, const json_t *id)
{
    return p->id && id && json_equal(p->id, id);
}
