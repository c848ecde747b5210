/* The streams, on their loops' threads. */
#include <stdio.h>
#include <stdlib.h>

#include "api/hub_private.h"
#include "base/container_of.h"
#include "base/mem.h"

#define RETRY_MS       2000 /* the client's pause before it connects again */
#define DRAIN_RETRY_MS 3000 /* at most, when the server stops: the clients must not come back all at once */
#define FORM_MAX       8192 /* bytes that a form writes at once */

/* ---- beginning and end ---- */

static void stream_beat(void *user)
{
    const struct hub_stream *s = user;
    (void)http_stream_send(s->conn, STR(":\n\n"));
}

/* Returns false if the stream is closed. */
static bool send_written(const struct hub_stream *s, const struct buf *text)
{
    return !text->n || http_stream_send(s->conn, buf_view(text));
}

static void end_stream(const struct hub_stream *s)
{
    struct http_conn *c = s->conn;
    struct buf text = BUF(FORM_MAX);
    if (s->reader.form)
        s->reader.form->end(&s->reader, &text);
    if (send_written(s, &text))
        http_stream_end(c);
    buf_done(&text);
}

static void stream_drain(void *user)
{
    const struct hub_stream *s = user;
    struct http_conn *c = s->conn;
    char text[32];
    if (s->reader.form) {
        end_stream(s);
        return;
    }
    const int n = snprintf(text, sizeof text, "retry: %d\n\n", g_random_int_range(RETRY_MS / 4, DRAIN_RETRY_MS));
    if (http_stream_send(c, str_n(text, (size_t)n)))
        http_stream_end(c);
}

static void leave(struct hub_stream *s)
{
    struct hub *h = s->hub;
    struct hub_building *b = s->building;
    pthread_mutex_lock(&h->mutex);
    const guint count = GPOINTER_TO_UINT(g_hash_table_lookup(h->keys, s->reader.key_id.text));
    if (count > 1)
        g_hash_table_insert(h->keys, g_strdup(s->reader.key_id.text), GUINT_TO_POINTER(count - 1));
    else
        g_hash_table_remove(h->keys, s->reader.key_id.text);
    h->total--;
    TAILQ_REMOVE(&h->streams, s, all);
    TAILQ_REMOVE(&b->streams, s, sibling);
    if (TAILQ_EMPTY(&b->streams)) {
        if (b->grown)
            TAILQ_REMOVE(&h->grown, b, grown_entry);
        g_hash_table_remove(h->buildings, b->id.text);
    }
    pthread_mutex_unlock(&h->mutex);
}

static void stream_closed(void *user)
{
    struct hub_stream *s = user;
    g_hash_table_remove(s->hub->loops[s->loop].streams, &s->number);
    leave(s);
    free(s);
}

/* The events that did not fit are read again. */
static void stream_taken(void *user)
{
    struct hub_stream *s = user;
    struct hub *h = s->hub;
    pthread_mutex_lock(&h->mutex);
    s->given = s->seq;
    hub_mark_grown(h, s->building);
    pthread_mutex_unlock(&h->mutex);
}

static const struct http_stream_handler stream_handler = {
    .beat = stream_beat, .drain = stream_drain, .taken = stream_taken, .closed = stream_closed};

static struct hub_building *building_of_stream(struct hub *h, const struct id *id)
{
    struct hub_building *b = g_hash_table_lookup(h->buildings, id->text);
    if (!b) {
        b = mem_new(struct hub_building);
        b->id = *id;
        TAILQ_INIT(&b->streams);
        g_hash_table_insert(h->buildings, b->id.text, b);
    }
    return b;
}

/* The thread reads the building at once: its feed may have grown since the reader's position was read. Returns whether
 * the stream is within the limits of hub_room: requests at the same time have all found room. */
static bool enter(struct hub_stream *s)
{
    struct hub *h = s->hub;
    const char *key = s->reader.key_id.text;
    pthread_mutex_lock(&h->mutex);
    hub_nodes_note(h->nodes, 0, NULL);
    const guint count = GPOINTER_TO_UINT(g_hash_table_lookup(h->keys, key));
    const bool within = count < HUB_STREAMS_A_KEY && h->total < h->most;
    g_hash_table_insert(h->keys, g_strdup(key), GUINT_TO_POINTER(count + 1));
    h->total++;
    s->number = ++h->numbers;
    s->given = s->seq;
    s->round = h->round;
    s->building = building_of_stream(h, &s->reader.building_id);
    TAILQ_INSERT_TAIL(&h->streams, s, all);
    TAILQ_INSERT_TAIL(&s->building->streams, s, sibling);
    hub_mark_grown(h, s->building);
    pthread_mutex_unlock(&h->mutex);
    return within;
}

/* ---- posts ---- */

static void deliver_news(const struct hub_stream *s, const struct hub_block *b, size_t from)
{
    struct buf text = BUF(FORM_MAX);
    uint32_t types = 0;
    for (size_t i = from; i < b->count; i++)
        types |= b->types[i];
    s->reader.form->news(&s->reader, types, &text);
    (void)send_written(s, &text);
    buf_done(&text);
}

static size_t end_of_event(const struct hub_block *b, size_t i)
{
    return i + 1 < b->count ? b->starts[i + 1] : b->bytes.n;
}

/* Sends as many as the client has room for; the others are read again when it has taken these. */
static void deliver_events(struct hub_stream *s, const struct hub_block *b, size_t from)
{
    const size_t start = b->starts[from], room = http_stream_room(s->conn);
    size_t end = start, i = from;
    for (; i < b->count && end_of_event(b, i) - start <= room; i++)
        end = end_of_event(b, i);
    s->seq = b->first + (int64_t)i - 1;
    if (i < b->count)
        http_stream_await(s->conn);
    if (end > start)
        (void)http_stream_send(s->conn, str_n(b->bytes.p + start, end - start));
}

/* A stream may have got some of the events by an earlier block. */
static void deliver(struct hub_stream *s, const struct hub_block *b)
{
    const int64_t skip = s->seq + 1 - b->first;
    if (skip < 0 || skip >= (int64_t)b->count)
        return;
    if (!s->reader.form) {
        deliver_events(s, b, (size_t)skip);
        return;
    }
    s->seq = b->first + (int64_t)b->count - 1;
    deliver_news(s, b, (size_t)skip);
}

static void run_post(struct hub_loop *l, const struct hub_post *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct hub_stream *s = g_hash_table_lookup(l->streams, &p->numbers[i]);
        if (s && p->block)
            deliver(s, p->block);
        else if (s)
            end_stream(s);
    }
}

static void hub_loop_mail(struct mail *mail)
{
    struct hub_loop *l = container_of(mail, struct hub_loop, mail);
    pthread_mutex_lock(&l->hub->mutex);
    struct hub_post *p = l->first;
    l->first = NULL;
    l->last = &l->first;
    l->posted = false;
    pthread_mutex_unlock(&l->hub->mutex);
    while (p) {
        struct hub_post *next = p->next;
        run_post(l, p);
        hub_block_unref(p->block);
        free(p);
        p = next;
    }
}

/* ---- opening ---- */

static void prepare_loop(struct hub *h, unsigned index, struct mailbox *mailbox)
{
    struct hub_loop *l = &h->loops[index];
    if (l->streams)
        return;
    l->streams = g_hash_table_new(g_int64_hash, g_int64_equal);
    l->hub = h;
    l->mailbox = mailbox;
    l->mail.run = hub_loop_mail;
    l->last = &l->first;
}

/* The first bytes tell the reader's position, so that a client that is cut off before the first event can resume. */
static void send_beginning(const struct hub_stream *s)
{
    char text[128];
    struct buf own = BUF(FORM_MAX);
    if (s->reader.form) {
        s->reader.form->begin(&s->reader, &own);
        (void)send_written(s, &own);
        buf_done(&own);
        return;
    }
    const long long seq = s->seq;
    const int n = s->reader.reset
                      ? snprintf(text, sizeof text,
                                 "retry: %d\nid: %lld\nevent: reset\ndata: {\"seq\":%lld,\"type\":\"reset\"}\n\n",
                                 RETRY_MS, seq, seq)
                      : snprintf(text, sizeof text, "retry: %d\nid: %lld\n\n", RETRY_MS, seq);
    (void)http_stream_send(s->conn, str_n(text, (size_t)n));
}

void hub_open(struct hub *h, struct http_request *r, unsigned loop, struct str head, const struct hub_reader *reader)
{
    struct hub_stream *s = mem_new(struct hub_stream);
    s->hub = h;
    s->loop = loop;
    s->reader = *reader;
    s->seq = reader->seq;
    s->conn = http_stream_begin(r, head, &stream_handler, s);
    if (!s->conn) {
        free(s);
        return;
    }
    prepare_loop(h, loop, http_stream_mailbox(s->conn));
    const bool within = enter(s);
    g_hash_table_insert(h->loops[loop].streams, &s->number, s);
    if (within)
        send_beginning(s);
    else
        end_stream(s);
}
