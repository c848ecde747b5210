#include "client/event_source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/complain.h"
#include "client/operation_answer.h"

#define LINE_MAX_LEN 65536
#define ERROR_MAX    65536
#define SILENCE_S    45L /* the service sends something every 15 s */
#define PAUSE_MS     1000
#define PAUSE_MAX_MS 30000
#define POLL_MS      1000

struct sources;

struct event_source {
    struct sources *all;
    size_t number;
    const char *path;
    CURL *curl;
    struct curl_slist *headers;
    bool connected; /* in the multi handle */
    bool ever;      /* a connection has succeeded */
    bool told;      /* `begun` was called for this connection */
    bool rewinds;   /* this connection ends, and the next one begins at an earlier event */
    int64_t last;   /* number of the last event; -1: none */
    int64_t again_us;
    int pause_ms;
    long status;
    char id[32], type[64];
    struct buf line, data;
};

struct sources {
    const struct remote *remote;
    const struct event_handler *handler;
    CURLM *multi;
    struct event_source list[EVENT_SOURCES_MAX];
    size_t count;
    int result; /* once `over` */
    bool over;
};

static void end_all(struct sources *all, int result)
{
    if (!all->over && result != EXIT_DONE) {
        all->over = true;
        all->result = result;
    }
}

/* ---- the format ---- */

static int64_t number_of(const char *id)
{
    uint64_t n;
    return str_to_u64(str_z(id), INT64_MAX, &n) ? (int64_t)n : -1;
}

/* The beginning of a connection: an ID without data. */
static void begin_stream(struct event_source *s)
{
    int64_t after = -1;
    const int64_t newest = number_of(s->id);
    s->told = true;
    s->last = newest;
    s->pause_ms = 0;
    if (s->all->handler->begun)
        end_all(s->all, s->all->handler->begun(s->all->handler->context, s->number, newest, &after));
    s->rewinds = after >= 0 && after < newest;
    if (s->rewinds)
        s->last = after;
}

/* An empty line: the event is complete. */
static void dispatch(struct event_source *s)
{
    if (!s->told && *s->id)
        begin_stream(s);
    if (s->data.n && s->told && !s->rewinds && !s->all->over) {
        buf_char(&s->data, '\0');
        const struct event e = {s->id, *s->type ? s->type : "message", s->data.p};
        if (!s->data.full)
            end_all(s->all, s->all->handler->event(s->all->handler->context, s->number, &e));
        if (number_of(s->id) > s->last)
            s->last = number_of(s->id);
    }
    s->data.n = 0;
    *s->type = '\0';
}

static void copy_if_it_fits(char *to, size_t room, struct str from)
{
    if (from.n < room) {
        memcpy(to, from.p, from.n);
        to[from.n] = '\0';
    }
}

static void take_line(struct event_source *s, struct str line)
{
    struct str value, name = str_cut(line, ':', &value);
    if (!line.n) {
        dispatch(s);
        return;
    }
    if (value.n && value.p[0] == ' ')
        value = str_from(value, 1);
    if (str_eq(name, STR("id")))
        copy_if_it_fits(s->id, sizeof s->id, value);
    else if (str_eq(name, STR("event")))
        copy_if_it_fits(s->type, sizeof s->type, value);
    else if (str_eq(name, STR("data")))
        buf_str(&s->data, value);
}

/* ---- a connection ---- */

static size_t event_on_bytes(char *p, size_t size, size_t count, void *arg)
{
    struct event_source *s = arg;
    const size_t n = size * count;
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &s->status);
    if (s->status != 200) { /* the body of an error */
        buf_put(&s->data, p, n);
        return s->data.full ? 0 : n;
    }
    for (size_t i = 0; i < n && !s->all->over && !s->rewinds; i++) {
        if (p[i] != '\n') {
            buf_char(&s->line, p[i]);
            continue;
        }
        take_line(s, buf_view(&s->line));
        s->line.n = 0;
    }
    return s->line.full || s->all->over || s->rewinds ? 0 : n;
}

static void connect_source(struct event_source *s)
{
    struct sources *all = s->all;
    char *url = mem_printf("%s%s", all->remote->url, s->path), last[64];
    buf_done(&s->line);
    buf_done(&s->data);
    s->line = BUF(LINE_MAX_LEN);
    s->data = BUF(ERROR_MAX);
    s->told = s->rewinds = false;
    s->status = 0;
    *s->id = *s->type = '\0';
    curl_slist_free_all(s->headers);
    s->headers = remote_authorize(all->remote, curl_slist_append(NULL, "Accept: text/event-stream"));
    if (s->last >= 0) {
        snprintf(last, sizeof last, "Last-Event-ID: %lld", (long long)s->last);
        s->headers = curl_slist_append(s->headers, last);
    }
    curl_easy_reset(s->curl);
    remote_prepare(all->remote, s->curl);
    curl_easy_setopt(s->curl, CURLOPT_URL, url);
    curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, s->headers);
    curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, event_on_bytes);
    curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(s->curl, CURLOPT_PRIVATE, s);
    curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
    free(url);
    s->connected = curl_multi_add_handle(all->multi, s->curl) == CURLM_OK;
    if (!s->connected)
        end_all(all, EXIT_FAILED);
}

/* Whether the service may accept the same request later. */
static bool is_passing(long status)
{
    return status == 0 || status == 200 || status == 429 || status >= 500;
}

static void source_ended(struct event_source *s, CURLcode e)
{
    struct sources *all = s->all;
    curl_multi_remove_handle(all->multi, s->curl);
    s->connected = false;
    if (all->over)
        return;
    if (!is_passing(s->status)) {
        const struct remote_answer answer = {.status = s->status, .body = buf_view(&s->data)};
        end_all(all, operation_print_error(all->remote, &answer, false));
        return;
    }
    s->ever |= s->status == 200;
    if (!s->ever) {
        complain("%s: %s", all->remote->url, e ? remote_failure(e, all->remote) : "not available");
        end_all(all, EXIT_NO_ANSWER);
        return;
    }
    s->pause_ms = s->rewinds ? 0 : s->pause_ms ? s->pause_ms * 2 : PAUSE_MS;
    if (s->pause_ms > PAUSE_MAX_MS)
        s->pause_ms = PAUSE_MAX_MS;
    s->again_us = clock_monotonic_us() + (int64_t)s->pause_ms * 1000;
}

/* ---- all connections ---- */

static void connect_due(struct sources *all)
{
    for (size_t i = 0; i < all->count && !all->over; i++)
        if (!all->list[i].connected && all->list[i].again_us <= clock_monotonic_us())
            connect_source(&all->list[i]);
}

static void end_finished(struct sources *all)
{
    const CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(all->multi, &left))) {
        struct event_source *s = NULL;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &s);
        if (m->msg == CURLMSG_DONE)
            source_ended(s, m->data.result);
    }
}

static int follow_all(struct sources *all)
{
    int running;
    while (!all->over) {
        connect_due(all);
        if (curl_multi_perform(all->multi, &running) != CURLM_OK)
            end_all(all, EXIT_FAILED);
        end_finished(all);
        if (!all->over && all->handler->idle)
            end_all(all, all->handler->idle(all->handler->context));
        /* The output must appear now. A closed pipe ends it. */
        if (fflush(stdout) != 0)
            end_all(all, EXIT_FAILED);
        if (!all->over && curl_multi_poll(all->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            end_all(all, EXIT_FAILED);
    }
    return all->result;
}

int event_sources_follow(const struct remote *r, const char *const *paths, size_t count,
                         const struct event_handler *handler)
{
    struct sources all = {.remote = r, .handler = handler, .multi = curl_multi_init(), .count = count};
    assert(count <= EVENT_SOURCES_MAX);
    for (size_t i = 0; i < count; i++)
        all.list[i] =
            (struct event_source){.all = &all, .number = i, .path = paths[i], .curl = curl_easy_init(), .last = -1};
    const int result = follow_all(&all);
    for (size_t i = 0; i < count; i++) {
        struct event_source *s = &all.list[i];
        if (s->connected)
            curl_multi_remove_handle(all.multi, s->curl);
        curl_easy_cleanup(s->curl);
        curl_slist_free_all(s->headers);
        buf_done(&s->line);
        buf_done(&s->data);
    }
    curl_multi_cleanup(all.multi);
    return result;
}
