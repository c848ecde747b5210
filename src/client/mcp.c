/* portero mcp: joins an assistant that speaks the Model Context Protocol over standard input and output with POST /mcp
 * of a service. Each line is a message; they are sent one after the other, so replies keep their order. Subscriptions
 * go on meanwhile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/complain.h"
#include "client/mcp_passage.h"
#include "client/profile.h"
#include "client/program.h"

#define CHUNK         65536
#define MESSAGE_MAX   102400 /* the service takes no longer body */
#define SUBSCRIPTIONS 5      /* at once */
#define POLL_MS       1000

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
    CURLM *multi;            /* keeps connections from message to message */
    struct passage *passage; /* the message that the next one waits for; NULL: none */
    struct passage *subscriptions[SUBSCRIPTIONS];
    char chunk[CHUNK]; /* input that is not read yet */
    size_t at, end;
    struct buf line;
    bool closed; /* the input */
    bool broken; /* nobody reads the output any more */
};

/* ---- lines ---- */

/* Takes input up to the next newline, without it; the rest of a line that is too long is dropped. Returns false if
 * there is no whole line yet. */
static bool take_input_line(struct bridge *b)
{
    while (b->at < b->end) {
        const char c = b->chunk[b->at++];
        if (c == '\n')
            return true;
        buf_char(&b->line, c);
    }
    return b->closed && b->line.n;
}

static void read_chunk(struct bridge *b)
{
    const ssize_t n = read(STDIN_FILENO, b->chunk, sizeof b->chunk);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    b->at = 0;
    b->end = n > 0 ? (size_t)n : 0;
    b->closed = n <= 0;
}

/* ---- messages ---- */

static void say_error(struct bridge *b, const json_t *id, int code, const char *message)
{
    b->broken |= !passage_write_error(id, code, message, NULL);
}

/* A free place, or the place of the subscription with the ID; NULL: there is none. */
static struct passage **subscription(struct bridge *b, const json_t *id)
{
    for (size_t i = 0; i < SUBSCRIPTIONS; i++)
        if (id ? b->subscriptions[i] && passage_is(b->subscriptions[i], id) : !b->subscriptions[i])
            return &b->subscriptions[i];
    return NULL;
}

/* A notification that a subscription is no longer wanted; its end is the end of its connection. */
static bool cancels(struct bridge *b, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *id = json_object_get(json_object_get(message, "params"), "requestId");
    struct passage **p = id && method && !strcmp(method, "notifications/cancelled") ? subscription(b, id) : NULL;
    if (!p)
        return false;
    passage_free(*p);
    *p = NULL;
    return true;
}

static void pass_message(struct bridge *b, json_t *message, struct str line)
{
    struct passage *p = passage_new(&b->remote, b->multi, message, line);
    struct passage **place = passage_listens(p) ? subscription(b, NULL) : &b->passage;
    if (place) {
        *place = p;
        return;
    }
    say_error(b, json_object_get(message, "id"), -32603, "There are five subscriptions already.");
    passage_free(p);
}

static void pass_line(struct bridge *b)
{
    json_t *message;
    const struct str line = buf_view(&b->line);
    if (b->line.full)
        say_error(b, NULL, -32600, "The message is too long.");
    else if (!str_trim(line).n)
        return;
    else if (json_read(line, &message))
        say_error(b, NULL, -32700, "The line is not JSON.");
    else if (cancels(b, message))
        json_decref(message);
    else
        pass_message(b, message, line);
}

static void end_passage(struct bridge *b, struct passage *p, CURLcode e)
{
    b->broken |= !passage_ended(p, e);
    if (p == b->passage)
        b->passage = NULL;
    for (size_t i = 0; i < SUBSCRIPTIONS; i++)
        if (p == b->subscriptions[i])
            b->subscriptions[i] = NULL;
    passage_free(p);
}

/* ---- the bridge ---- */

static void run_transfers(struct bridge *b)
{
    const CURLMsg *m;
    int running, left;
    curl_multi_perform(b->multi, &running);
    while ((m = curl_multi_info_read(b->multi, &left)))
        if (m->msg == CURLMSG_DONE)
            end_passage(b, passage_of(m->easy_handle), m->data.result);
}

/* Waits for the service, and for input while no message is on its way. */
static void wait_for_either(struct bridge *b)
{
    struct curl_waitfd input = {.fd = STDIN_FILENO, .events = CURL_WAIT_POLLIN};
    const bool wanted = !b->passage && !b->closed;
    curl_multi_poll(b->multi, &input, wanted ? 1 : 0, POLL_MS, NULL);
    if (wanted && input.revents)
        read_chunk(b);
}

static int run_bridge(struct bridge *b)
{
    b->line = BUF(MESSAGE_MAX);
    while (!b->broken) {
        run_transfers(b);
        if (!b->passage && take_input_line(b)) {
            pass_line(b);
            b->line.n = 0;
            b->line.full = false;
        } else if (!b->passage && b->closed) {
            break;
        } else {
            wait_for_either(b);
        }
    }
    passage_free(b->passage);
    for (size_t i = 0; i < SUBSCRIPTIONS; i++)
        passage_free(b->subscriptions[i]);
    buf_done(&b->line);
    return b->broken ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the command ---- */

static int mcp_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct mcp_options *o = given;
    if (o->url)
        setenv(REMOTE_URL_VARIABLE, o->url, 1);
    struct remote remote;
    int status = remote_open(o->profile, o->ca_file, &remote);
    if (status)
        return status;
    struct bridge *b = mem_new(struct bridge);
    b->remote = remote;
    if (!b->remote.key) {
        complain("there is no key for %s: set " REMOTE_KEY_VARIABLE ", or use portero login", b->remote.url);
        status = EXIT_NO_KEY;
    } else if ((b->multi = curl_multi_init())) {
        status = run_bridge(b);
    } else {
        status = EXIT_FAILED;
    }
    curl_multi_cleanup(b->multi);
    remote_done(&b->remote);
    free(b);
    return status;
}

static const struct mcp_options defaults = {.profile = PROFILE_DEFAULT};

const struct command command_mcp = {
    .name = "mcp",
    .summary = "Give an assistant the tools of a service, over standard input and output (Model Context Protocol)",
    COMMAND_OPTIONS(struct mcp_options, rows),
    .defaults = &defaults,
    .run = mcp_run,
};
