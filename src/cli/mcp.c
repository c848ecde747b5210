/* portero mcp: joins an assistant that speaks the Model Context Protocol over standard input and output with POST /mcp
 * of a service. Each line is a message; they are sent one after the other, so replies keep their order. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "http/request.h"

#define META       "io.modelcontextprotocol/"
#define ANSWER_MAX (16U << 20)
#define TIMEOUT_MS 60000L
#define REUSE_S    2L /* a kept connection is used again for so long: no server closes it sooner */
#define PLAIN_MIN  0x20
#define PLAIN_MAX  0x7e

struct mcp_options {
    const char *url, *profile, *ca_file;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct mcp_options, url, "url", "URL", "address of the service [$PORTERO_URL, else that of the login]"),
    OPTION_TEXT(struct mcp_options, profile, "profile", "NAME", "login to use [default]"),
    OPTION_TEXT(struct mcp_options, ca_file, "ca-file", "FILE", "certificate to trust besides the system's"),
};

struct bridge {
    struct remote remote;
    CURL *curl; /* keeps its connection from message to message */
};

/* One message on its way. */
struct passage {
    const json_t *message;
    const json_t *id; /* NULL: a notification, or it cannot be read */
    unsigned sent;
    struct buf answer;
    long status;
};

/* ---- lines ---- */

enum line { LINE_READ, LINE_TOO_LONG, LINE_END };

/* Reads up to the next newline, without it; the rest of a line that is too long is dropped. */
static enum line read_message_line(FILE *in, struct buf *line)
{
    int c;
    line->n = 0;
    line->full = false;
    while ((c = getc_unlocked(in)) != EOF && c != '\n')
        buf_char(line, (char)c);
    if (c == EOF && line->n == 0)
        return LINE_END;
    return line->full ? LINE_TOO_LONG : LINE_READ;
}

/* False if nobody reads any more. */
static bool write_message(const json_t *message)
{
    const bool written = json_dumpf(message, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
    return fflush(stdout) == 0 && written;
}

static bool write_error(const json_t *id, int code, const char *message, json_t *data)
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
static void add_header(struct curl_slist **list, char *line)
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
        add_header(list, mem_printf("%s: %s", name, text));
        return;
    }
    char *encoded = mem_zeroed(1, BASE64_LEN(strlen(text)) + 1);
    base64_standard_encode(text, strlen(text), encoded);
    add_header(list, mem_printf("%s: =?base64?%s?=", name, encoded));
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

/* ---- one message ---- */

static size_t bridge_on_body(char *p, size_t size, size_t count, void *arg)
{
    struct passage *x = arg;
    buf_put(&x->answer, p, size * count);
    return x->answer.full ? 0 : size * count;
}

/* A message is sent once: a call may have been carried out although its connection broke.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int bridge_on_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct passage *x = arg;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    return x->sent++ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static CURLcode send_message(struct bridge *b, struct str line, struct passage *x)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    char *url = mem_printf("%s/mcp", b->remote.url);
    add_header(&headers, mem_strdup("Accept: application/json, text/event-stream"));
    add_header(&headers, mem_strdup("Expect:"));
    add_repeated(x->message, &headers);
    headers = remote_authorize(&b->remote, headers);
    curl_easy_reset(b->curl);
    remote_prepare(&b->remote, b->curl);
    curl_easy_setopt(b->curl, CURLOPT_URL, url);
    curl_easy_setopt(b->curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(b->curl, CURLOPT_MAXAGE_CONN, REUSE_S);
    curl_easy_setopt(b->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(b->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)line.n);
    curl_easy_setopt(b->curl, CURLOPT_POSTFIELDS, line.p);
    curl_easy_setopt(b->curl, CURLOPT_PREREQFUNCTION, bridge_on_send);
    curl_easy_setopt(b->curl, CURLOPT_PREREQDATA, x);
    curl_easy_setopt(b->curl, CURLOPT_WRITEFUNCTION, bridge_on_body);
    curl_easy_setopt(b->curl, CURLOPT_WRITEDATA, x);
    const CURLcode e = curl_easy_perform(b->curl);
    curl_easy_getinfo(b->curl, CURLINFO_RESPONSE_CODE, &x->status);
    curl_slist_free_all(headers);
    free(url);
    return e;
}

static bool write_failure(const struct bridge *b, CURLcode e, const struct passage *x)
{
    char *why = mem_printf("%s: %s%s", b->remote.url, remote_failure(e, &b->remote),
                           x->sent ? "; the call may have been carried out" : "");
    complain("%s", why);
    const bool written = !x->id || write_error(x->id, -32603, why, NULL);
    free(why);
    return written;
}

/* The service's own reply, or its refusal of the whole request, such as 401, as an error. */
static bool write_service_answer(const struct passage *x)
{
    json_t *answer = NULL;
    if (!x->answer.n && x->status < 300)
        return true;
    if (json_read(buf_view(&x->answer), &answer))
        answer = NULL;
    if (json_object_get(answer, "jsonrpc")) {
        const bool written = write_message(answer);
        json_decref(answer);
        return written;
    }
    json_t *error = json_object_get(answer, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    complain("the service responded %ld%s%s", x->status, message ? ": " : "", message ? message : "");
    const bool written =
        !x->id || write_error(x->id, -32603, message ? message : "the service did not respond as expected", error);
    json_decref(answer);
    return written;
}

/* False if nobody reads any more. */
static bool pass(struct bridge *b, struct str line)
{
    json_t *message;
    if (json_read(line, &message))
        return write_error(NULL, -32700, "The line is not JSON.", NULL);
    struct passage x = {.message = message, .id = json_object_get(message, "id"), .answer = BUF(ANSWER_MAX)};
    const CURLcode e = send_message(b, line, &x);
    const bool written = e ? write_failure(b, e, &x) : write_service_answer(&x);
    buf_done(&x.answer);
    json_decref(message);
    return written;
}

static int run_bridge(struct bridge *b)
{
    struct buf line = BUF(HTTP_MAX_BODY);
    enum line got;
    bool written = true;
    while (written && (got = read_message_line(stdin, &line)) != LINE_END) {
        if (got == LINE_TOO_LONG)
            written = write_error(NULL, -32600, "The message is too long.", NULL);
        else if (str_trim(buf_view(&line)).n)
            written = pass(b, buf_view(&line));
    }
    buf_done(&line);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* ---- the command ---- */

static int mcp_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct mcp_options *o = given;
    struct bridge b = {.curl = NULL};
    if (o->url)
        setenv(REMOTE_URL_VARIABLE, o->url, 1);
    int status = remote_open(o->profile, o->ca_file, &b.remote);
    if (status)
        return status;
    if (!b.remote.key) {
        complain("there is no key for %s: set " REMOTE_KEY_VARIABLE ", or use portero login", b.remote.url);
        status = EXIT_NO_KEY;
    } else if ((b.curl = curl_easy_init())) {
        status = run_bridge(&b);
    } else {
        status = EXIT_FAILED;
    }
    curl_easy_cleanup(b.curl);
    remote_done(&b.remote);
    return status;
}

static const struct mcp_options defaults = {.profile = "default"};

const struct command command_mcp = {
    .name = "mcp",
    .summary = "Give an assistant the tools of a service, over standard input and output (Model Context Protocol)",
    COMMAND_OPTIONS(struct mcp_options, rows),
    .defaults = &defaults,
    .run = mcp_run,
};
