#include "api/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "http/server.h"
#include "net/address.h"

#define RING          256        /* records of one loop thread that wait to be written */
#define PEERS         1024       /* peers that a loop thread counts separately; others share a counter */
#define PEER_MINUTE   60         /* records of one peer per minute */
#define SEGMENTS      5          /* number of files; a new one is started after each quarter of the retention time */
#define SEGMENT_BYTES (8L << 20) /* bytes of one file */
#define LINE_MAX_LEN  2048       /* bytes of one record */
#define PAUSE_MS      50         /* pause between two rounds of writing */
#define COMPLAIN_US   (60 * US_PER_S)   /* pause between two warnings about a file */
#define HOUR_US       (3600 * US_PER_S) /* of the retention time */

struct peer {
    uint32_t hash;
    uint32_t minute, count;
};

/* A ring with one producer, the loop thread, and one consumer, the holder of the journal's lock. */
struct ring {
    _Atomic uint32_t noted, taken;
    struct peer peers[PEERS]; /* owned by the producer */
    struct journal_record records[RING];
};

struct journal {
    char *directory;
    int64_t keep_us;
    _Atomic(struct ring *) rings[HTTP_MAX_LOOPS]; /* allocated by each loop thread with its first record */
    int event;                                    /* the writer sleeps on it */
    _Atomic bool woken, stopping;
    pthread_t writer;
    pthread_mutex_t lock; /* protects the members below and the reading of rings; producers never take it */
    int fd;               /* the newest file; -1: not open */
    int64_t begun_us, complained_us;
    long bytes;
};

/* ---- recording: loop threads ---- */

/* Counter of the address block, which rate limits count as one peer, too. */
static uint32_t peer_hash(const char *peer)
{
    struct net_address address = {{0}};
    uint32_t h = 2166136261u; /* FNV-1a */
    if (net_address_parse(str_z(peer), &address))
        address = net_address_block(&address);
    for (size_t i = 0; i < sizeof address.bytes; i++)
        h = (h ^ address.bytes[i]) * 16777619u;
    return h;
}

/* True if this peer may add another record. A peer that causes endless errors must not displace all other records. */
static bool may_note(struct ring *ring, const char *peer, int64_t at_us)
{
    const uint32_t hash = peer_hash(peer), minute = (uint32_t)(at_us / (60 * US_PER_S));
    struct peer *p = &ring->peers[hash % PEERS];
    if (p->hash != hash || p->minute != minute)
        *p = (struct peer){.hash = hash, .minute = minute};
    return p->count < PEER_MINUTE && ++p->count;
}

static struct ring *ring_of(struct journal *j, unsigned loop)
{
    struct ring *ring = atomic_load_explicit(&j->rings[loop], memory_order_relaxed);
    if (!ring) {
        ring = mem_new(struct ring);
        atomic_store_explicit(&j->rings[loop], ring, memory_order_release);
    }
    return ring;
}

static void wake(struct journal *j)
{
    uint64_t one = 1;
    if (!atomic_exchange(&j->woken, true))
        (void)!write(j->event, &one, sizeof one);
}

struct journal_record *journal_reserve(struct journal *j, unsigned loop, const char *peer)
{
    struct ring *ring = ring_of(j, loop);
    const int64_t at_us = clock_real_us();
    if (!may_note(ring, peer, at_us))
        return NULL;
    uint32_t noted = atomic_load_explicit(&ring->noted, memory_order_relaxed);
    if (noted - atomic_load_explicit(&ring->taken, memory_order_acquire) == RING)
        return NULL;
    struct journal_record *r = &ring->records[noted % RING];
    *r = (struct journal_record){.at_us = at_us};
    snprintf(r->peer, sizeof r->peer, "%s", peer);
    return r;
}

void journal_publish(struct journal *j, unsigned loop)
{
    struct ring *ring = atomic_load_explicit(&j->rings[loop], memory_order_relaxed);
    atomic_fetch_add_explicit(&ring->noted, 1, memory_order_release);
    wake(j);
}

/* ---- files ---- */

static void segment_path(const struct journal *j, int number, char ret[static 4096])
{
    snprintf(ret, 4096, "%s/requests.%d.jsonl", j->directory, number);
}

static void journal_warn(struct journal *j, const char *what)
{
    int64_t now = clock_monotonic_us();
    if (j->complained_us && now - j->complained_us < COMPLAIN_US)
        return;
    j->complained_us = now;
    log_warn("request_journal_failed %s reason=%s", what, strerror(errno));
}

static void open_newest(struct journal *j)
{
    char path[4096];
    struct stat found;
    segment_path(j, 0, path);
    j->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (j->fd < 0 || fstat(j->fd, &found) < 0) {
        journal_warn(j, "file=open");
        return;
    }
    j->bytes = found.st_size;
}

/* Renames every file to the next number and removes the last one. */
static void journal_rotate(struct journal *j)
{
    char from[4096], to[4096];
    if (j->fd >= 0)
        close(j->fd);
    for (int i = SEGMENTS - 1; i > 0; i--) {
        segment_path(j, i - 1, from);
        segment_path(j, i, to);
        if (rename(from, to) < 0 && errno == ENOENT)
            (void)unlink(to); /* so that every file is removed in time */
    }
    j->begun_us = clock_real_us();
    open_newest(j);
}

static void rotate_if_due(struct journal *j)
{
    const int64_t age_us = clock_real_us() - j->begun_us;
    if (j->bytes >= SEGMENT_BYTES || age_us >= j->keep_us / (SEGMENTS - 1) || age_us < 0)
        journal_rotate(j);
}

/* ---- a record as a line ---- */

enum kind { TEXT, NUMBER, STATUS };

#define TEXT_FIELD(name)                                                                                               \
    {                                                                                                                  \
#name, TEXT, offsetof(struct journal_record, name), sizeof(((struct journal_record *)0)->name)                 \
    }
static const struct {
    const char *name;
    enum kind kind;
    size_t offset, size;
} fields[] = {
    {"at_us", NUMBER, offsetof(struct journal_record, at_us), 0},
    {"duration_us", NUMBER, offsetof(struct journal_record, duration_us), 0},
    {"status", STATUS, offsetof(struct journal_record, status), 0},
    TEXT_FIELD(request_id),
    TEXT_FIELD(method),
    TEXT_FIELD(code),
    TEXT_FIELD(path),
    TEXT_FIELD(account_id),
    TEXT_FIELD(building_id),
    TEXT_FIELD(key_id),
    TEXT_FIELD(peer),
    TEXT_FIELD(message),
};

static size_t to_line(const struct journal_record *r, char ret[static LINE_MAX_LEN])
{
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *member = (const char *)r + fields[i].offset;
        json_t *value = fields[i].kind == TEXT     ? json_string(member)
                        : fields[i].kind == STATUS ? json_integer(r->status)
                                                   : json_integer(*(const int64_t *)(const void *)member);
        json_object_set_new(object, fields[i].name, value); /* omit a text that was cut within a character */
    }
    size_t n = json_dumpb(object, ret, LINE_MAX_LEN - 1, JSON_COMPACT);
    json_decref(object);
    if (n >= LINE_MAX_LEN)
        return 0;
    ret[n++] = '\n';
    return n;
}

static bool from_line(struct str line, struct journal_record *ret)
{
    json_t *object = NULL;
    if (json_read(line, &object) || !json_is_object(object)) {
        json_decref(object);
        return false;
    }
    *ret = (struct journal_record){0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char *member = (char *)ret + fields[i].offset;
        const json_t *value = json_object_get(object, fields[i].name);
        const char *text = json_string_value(value);
        if (fields[i].kind == TEXT)
            snprintf(member, fields[i].size, "%s", text ? text : "");
        else if (fields[i].kind == STATUS)
            ret->status = (int)json_integer_value(value);
        else
            *(int64_t *)(void *)member = json_integer_value(value);
    }
    json_decref(object);
    return true;
}

/* ---- writing ---- */

static void write_out(struct journal *j, struct buf *lines)
{
    if (lines->n && j->fd >= 0) {
        ssize_t n = write(j->fd, lines->p, lines->n);
        if (n < 0 || (size_t)n < lines->n)
            journal_warn(j, "file=write");
        j->bytes += n > 0 ? n : 0;
    }
    lines->n = 0;
}

/* Writes all waiting records. The caller must hold the lock. */
static void journal_drain(struct journal *j)
{
    struct buf lines = BUF(RING * LINE_MAX_LEN);
    rotate_if_due(j);
    for (size_t i = 0; i < HTTP_MAX_LOOPS; i++) {
        struct ring *ring = atomic_load_explicit(&j->rings[i], memory_order_acquire);
        if (!ring)
            continue;
        uint32_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
        while (taken != atomic_load_explicit(&ring->noted, memory_order_acquire)) {
            char line[LINE_MAX_LEN];
            buf_put(&lines, line, to_line(&ring->records[taken % RING], line));
            atomic_store_explicit(&ring->taken, ++taken, memory_order_release);
            if (lines.n > lines.max / 2)
                write_out(j, &lines);
        }
    }
    write_out(j, &lines);
    buf_done(&lines);
}

static void locked_drain(struct journal *j)
{
    pthread_mutex_lock(&j->lock);
    journal_drain(j);
    pthread_mutex_unlock(&j->lock);
}

/* Sleeps until a record arrives, or until the newest file must be rotated: old records must go even if nothing happens.
 */
static void *write_all(void *arg)
{
    struct journal *j = arg;
    const int64_t quarter_ms = j->keep_us / (SEGMENTS - 1) / 1000;
    pthread_setname_np(pthread_self(), "journal");
    while (!atomic_load(&j->stopping)) {
        uint64_t unused;
        struct pollfd p = {.fd = j->event, .events = POLLIN};
        if (poll(&p, 1, (int)quarter_ms) > 0)
            (void)!read(j->event, &unused, sizeof unused);
        atomic_store(&j->woken, false);
        locked_drain(j);
        if (!atomic_load(&j->stopping))
            sleep_for_us(PAUSE_MS * 1000);
    }
    locked_drain(j);
    return NULL;
}

/* ---- lookup ---- */

/* The line with that request ID in one file. */
static bool find_in(const char *path, const char *needle, int64_t since_us, struct journal_record *ret)
{
    char line[LINE_MAX_LEN];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, needle) && from_line(str_n(line, strcspn(line, "\n")), ret) && ret->at_us >= since_us;
    if (file)
        fclose(file);
    return found;
}

enum err journal_find(struct journal *j, struct str request_id, struct journal_record *ret)
{
    char path[4096], needle[80];
    enum err e = ERR_NOT_FOUND;
    const int64_t since_us = clock_real_us() - j->keep_us;
    snprintf(needle, sizeof needle, "\"request_id\":\"%.*s\"", STR_ARG(request_id));
    pthread_mutex_lock(&j->lock);
    journal_drain(j);
    for (int i = 0; i < SEGMENTS && e; i++) {
        segment_path(j, i, path);
        if (find_in(path, needle, since_us, ret))
            e = ERR_NONE;
    }
    pthread_mutex_unlock(&j->lock);
    return e;
}

/* ---- life ---- */

/* The start time of the newest file is the time of its first record. An empty file starts now. */
static int64_t begin_of(const struct journal *j)
{
    char path[4096], line[LINE_MAX_LEN];
    struct journal_record first;
    int64_t begun_us = clock_real_us();
    segment_path(j, 0, path);
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && from_line(str_n(line, strcspn(line, "\n")), &first))
        begun_us = first.at_us;
    if (file)
        fclose(file);
    return begun_us;
}

static void journal_release(struct journal *j)
{
    for (size_t i = 0; i < HTTP_MAX_LOOPS; i++)
        free(j->rings[i]);
    if (j->fd >= 0)
        close(j->fd);
    if (j->event >= 0)
        close(j->event);
    pthread_mutex_destroy(&j->lock);
    free(j->directory);
    free(j);
}

enum err journal_new(const char *directory, int64_t keep_h, struct journal **ret)
{
    struct journal *j = mem_new(struct journal);
    j->directory = mem_strdup(directory);
    pthread_mutex_init(&j->lock, NULL);
    j->keep_us = keep_h * HOUR_US;
    j->fd = -1;
    j->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (j->event < 0 || (mkdir(directory, 0700) < 0 && errno != EEXIST)) {
        journal_release(j);
        return ERR_IO;
    }
    j->begun_us = begin_of(j);
    open_newest(j);
    if (j->fd < 0 || pthread_create(&j->writer, NULL, write_all, j) != 0) {
        journal_release(j);
        return ERR_IO;
    }
    *ret = j;
    return ERR_NONE;
}

void journal_free(struct journal *j)
{
    uint64_t one = 1;
    if (!j)
        return;
    atomic_store(&j->stopping, true);
    (void)!write(j->event, &one, sizeof one);
    pthread_join(j->writer, NULL);
    journal_release(j);
}
