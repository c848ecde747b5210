#include "client/log_tail.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/terminal.h"
#include "client/complain.h"
#include "client/event_source.h"
#include "client/operation.h"
#include "client/operation_answer.h"
#include "client/operation_input.h"
#include "client/print.h"
#include "client/profile.h"

#define PAGE       100
#define PAGES_MAX  50   /* read at once, after a long interruption */
#define SEEN_MAX   2048 /* IDs of printed entries that are remembered */
#define OVERLAP_S  10   /* entries are committed at most so much later than their time says */
#define CURSOR_MAX 512

struct tail_options {
    const char *building, *profile, *ca_file;
    int64_t count;
    bool json;
};

struct tail {
    const struct tail_options *options;
    struct remote remote;
    struct id building;
    char newest[40];          /* time of the newest entry; "": none */
    struct id seen[SEEN_MAX]; /* a ring */
    size_t seen_at;
    bool due;       /* there may be new entries */
    bool following; /* the first page was read */
};

/* ---- entries ---- */

static bool was_seen(struct tail *t, const char *id)
{
    for (size_t i = 0; i < SEEN_MAX; i++)
        if (!strcmp(t->seen[i].text, id))
            return true;
    snprintf(t->seen[t->seen_at].text, sizeof t->seen->text, "%s", id);
    t->seen_at = (t->seen_at + 1) % SEEN_MAX;
    return false;
}

static const char *verdict(const json_t *entry)
{
    const char *type = json_string_value(json_object_get(entry, "type"));
    if (type && !strcmp(type, "call"))
        return "forwarded";
    return json_is_true(json_object_get(entry, "succeeded")) ? "opened" : "refused";
}

static void print_entry(struct tail *t, const json_t *entry)
{
    const char *at = json_string_value(json_object_get(entry, "created_at"));
    const char *id = json_string_value(json_object_get(entry, "id"));
    if (!at || !id || was_seen(t, id))
        return;
    if (strcmp(at, t->newest) > 0)
        snprintf(t->newest, sizeof t->newest, "%s", at);
    if (t->options->json) {
        char *text = json_dumps(entry, JSON_COMPACT);
        print_json_line(str_z(text ? text : "{}"));
        free(text);
    } else {
        terminal_print(stdout, "%s  %-9s  ", at, verdict(entry));
        print_value(json_object_get(entry, "name"), stdout);
        putchar('\n');
    }
}

/* ---- pages ---- */

static void put_since(const struct tail *t, struct buf *path)
{
    int64_t newest_us;
    char since[TIME_TEXT_MAX];
    if (!time_parse(str_z(t->newest), &newest_us))
        return;
    time_format(newest_us - OVERLAP_S * US_PER_S, since);
    buf_printf(path, "&since=%s", since);
}

/* Reads a page of the newest entries, or after the cursor. The caller releases *ret. */
static int read_page(struct tail *t, int64_t limit, const char *cursor, json_t **ret)
{
    struct buf path = BUF(4096);
    struct arena a;
    struct remote_answer answer;
    buf_printf(&path, "/v1/logs?limit=%lld", (long long)limit);
    put_since(t, &path);
    if (*cursor) {
        buf_lit(&path, "&cursor=");
        operation_put_escaped(cursor, &path);
    }
    buf_char(&path, '\0');
    arena_init(&a, NULL, 0);
    const struct remote_call call = {
        .method = "GET", .path = path.p, .building = t->options->building, .repeatable = true};
    int status = remote_send(&t->remote, &call, &a, &answer);
    if (!status && t->following && (answer.status == 429 || answer.status >= 500)) {
        complain("%s: responded %ld; trying again", t->remote.url, answer.status);
        status = EXIT_NO_ANSWER;
    } else if (!status && answer.status != 200) {
        status = operation_print_error(&t->remote, &answer, false);
    } else if (!status && json_read(answer.body, ret)) {
        complain("the service responded without JSON");
        status = EXIT_FAILED;
    }
    arena_done(&a);
    buf_done(&path);
    return status;
}

static void note_building(struct tail *t, const json_t *page)
{
    const char *id = json_string_value(json_object_get(page, "building_id"));
    if (id && !*t->building.text)
        (void)id_parse(str_z(id), &t->building);
}

/* Reads all new entries, oldest last, and prints them oldest first. `limit`: at most so many of the newest. */
static int print_new(struct tail *t, int64_t limit, size_t pages)
{
    json_t *all = json_array(), *page = NULL;
    char cursor[CURSOR_MAX] = "";
    int status = EXIT_DONE;
    for (size_t i = 0; !status && i < pages && (i == 0 || *cursor); i++) {
        status = read_page(t, limit, cursor, &page);
        if (status)
            break;
        note_building(t, page);
        json_array_extend(all, json_object_get(page, "data"));
        const char *next = json_string_value(json_object_get(json_object_get(page, "pagination"), "cursor"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        json_decref(page);
        page = NULL;
    }
    for (size_t i = json_array_size(all); i > 0; i--)
        print_entry(t, json_array_get(all, i - 1));
    json_decref(all);
    return status;
}

/* ---- following ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is struct event_handler's */
static int tail_begun(void *context, size_t source, int64_t newest, int64_t *ret_after)
{
    (void)source, (void)newest, (void)ret_after;
    ((struct tail *)context)->due = true;
    return EXIT_DONE;
}

static int tail_event(void *context, size_t source, const struct event *e)
{
    (void)source, (void)e;
    ((struct tail *)context)->due = true;
    return EXIT_DONE;
}

/* A service that does not respond at this moment is asked again: the stream tells when it is back. */
static int tail_idle(void *context)
{
    struct tail *t = context;
    if (!t->due)
        return EXIT_DONE;
    const int status = print_new(t, PAGE, PAGES_MAX);
    t->due = status == EXIT_NO_ANSWER;
    return status == EXIT_NO_ANSWER ? EXIT_DONE : status;
}

static int tail_follow(struct tail *t)
{
    char path[128];
    const char *const paths[] = {path};
    const struct event_handler handler = {tail_begun, tail_event, tail_idle, t};
    int status = print_new(t, t->options->count, 1);
    if (status)
        return status;
    if (fflush(stdout) != 0)
        return EXIT_FAILED;
    snprintf(path, sizeof path, "/v1/buildings/%s/events", t->building.text);
    t->following = true;
    return event_sources_follow(&t->remote, paths, 1, &handler);
}

static int tail_run(const struct command *self, const void *given, struct arguments operands)
{
    static struct tail tail;
    (void)operands;
    tail.options = given;
    if (!operation_is_header(self->name, "building", tail.options->building))
        return EXIT_USAGE;
    int status = remote_open(tail.options->profile, tail.options->ca_file, &tail.remote);
    if (!status)
        status = tail_follow(&tail);
    remote_done(&tail.remote);
    return status;
}

static const struct tail_options defaults = {.profile = PROFILE_DEFAULT, .count = 10};

static const struct option_row rows[] = {
    OPTION_NUMBER(struct tail_options, count, "count", "N", 1, PAGE, "entries to begin with [10]"),
    OPTION_TEXT(struct tail_options, building, "building", "ID", "building, where the account has several"),
    OPTION_SWITCH(struct tail_options, json, "json", "print each entry as a line of JSON"),
    REMOTE_ROWS(struct tail_options),
};

const struct command command_log_tail = {
    .name = "log tail",
    .summary = "Print the newest entries of the log, and each new one",
    COMMAND_OPTIONS(struct tail_options, rows),
    .defaults = &defaults,
    .run = tail_run,
};
