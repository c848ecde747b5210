/* portero listen: the account's events, posted to a receiver on the developer's machine. They are read from the streams
 * of the account's buildings, so that the receiver needs no public address. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "client/event_source.h"
#include "client/listen_event.h"
#include "client/listen_post.h"
#include "client/listen_replay.h"
#include "client/operation.h"
#include "client/profile.h"
#include "client/program.h"
#include "client/remote.h"

#define BUILDINGS_MAX 50
#define PAST_MAX      ((size_t)EVENT_SOURCES_MAX * LISTEN_REPLAY_MAX * LISTEN_EVENTS_MAX)

struct listen_options {
    const char *forward_to, *types, *replay, *building, *profile, *ca_file;
    bool test;
};

struct listen {
    const struct listen_options *options;
    struct remote remote;
    struct arena arena;
    CURL *curl; /* to the receiver */
    char secret[LISTEN_SECRET_MAX];
    uint32_t types; /* bits */
    struct remote_building buildings[EVENT_SOURCES_MAX];
    char paths[EVENT_SOURCES_MAX][96];
    size_t count;

    struct listen_choice choice;
    struct listen_search searches[EVENT_SOURCES_MAX];
    bool caught_up[EVENT_SOURCES_MAX]; /* all past events of the stream were read */
    bool replaying;
    struct listen_event *past; /* until all streams are caught up; in the arena */
    size_t past_count;
};

static void post_event(struct listen *l, const struct listen_event *e)
{
    if (e->type == EVENT_WEBHOOK_TEST || l->types & 1U << e->type)
        listen_post(l->curl, l->options->forward_to, l->secret, e);
}

/* ---- past events ---- */

static int by_time(const void *a, const void *b)
{
    const struct listen_event *x = a, *y = b;
    if (x->created_us != y->created_us)
        return x->created_us < y->created_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void post_past(struct listen *l)
{
    size_t chosen = 0;
    l->replaying = false;
    qsort(l->past, l->past_count, sizeof *l->past, by_time);
    for (size_t i = 0; i < l->past_count; i++)
        if (l->types & 1U << l->past[i].type)
            l->past[chosen++] = l->past[i];
    const size_t from = l->choice.count && (size_t)l->choice.count < chosen ? chosen - (size_t)l->choice.count : 0;
    for (size_t i = from; i < chosen; i++)
        if (l->choice.count || l->past[i].created_us >= l->choice.since_us)
            post_event(l, &l->past[i]);
}

static void post_past_if_caught_up(struct listen *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (!l->caught_up[i])
            return;
    if (l->replaying)
        post_past(l);
}

static void keep_past(struct listen *l, const struct listen_event *e)
{
    if (l->past_count == PAST_MAX) /* more happens than is kept: the kept events go first */
        post_past(l);
    if (!l->replaying) {
        post_event(l, e);
        return;
    }
    l->past[l->past_count] = *e;
    l->past[l->past_count].order = l->past_count;
    l->past[l->past_count++].data = arena_str(&l->arena, e->data);
}

/* ---- the streams ---- */

static int listen_begun(void *context, size_t source, int64_t newest, int64_t *ret_after)
{
    struct listen *l = context;
    if (!l->options->replay || l->caught_up[source])
        return EXIT_DONE;
    struct listen_search *s = &l->searches[source];
    const int64_t next = listen_search_step(s, newest);
    if (next >= 0)
        *ret_after = next;
    else
        l->caught_up[source] = newest >= s->newest;
    post_past_if_caught_up(l);
    return EXIT_DONE;
}

static void take_events(struct listen *l, size_t source, const struct event *e)
{
    struct listen_event events[LISTEN_EVENTS_MAX];
    struct arena a;
    arena_init(&a, NULL, 0);
    const size_t n = listen_events(&l->buildings[source], str_z(e->data), &a, events);
    for (size_t i = 0; i < n; i++) {
        if (l->replaying)
            keep_past(l, &events[i]);
        else
            post_event(l, &events[i]);
    }
    arena_done(&a);
}

static int listen_event(void *context, size_t source, const struct event *e)
{
    struct listen *l = context;
    uint64_t number;
    if (!strcmp(e->type, "reset")) {
        if (!l->replaying)
            complain("%.*s: events were missed that the service does not send any more",
                     STR_ARG(l->buildings[source].label));
        return EXIT_DONE;
    }
    take_events(l, source, e);
    if (l->replaying && str_to_u64(str_z(e->id), INT64_MAX, &number) && (int64_t)number >= l->searches[source].newest) {
        l->caught_up[source] = true;
        post_past_if_caught_up(l);
    }
    return EXIT_DONE;
}

/* ---- beginning ---- */

static int read_types(struct listen *l, const char *text)
{
    l->types = text ? 0 : UINT32_MAX;
    for (struct str rest = str_z(text), word; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        const int type = str_index(word, event_type_names);
        if (type < 0) {
            complain("listen: %.*s is not a type of event: see `portero help listen`", STR_ARG(word));
            return EXIT_USAGE;
        }
        l->types |= 1U << type;
    }
    return EXIT_DONE;
}

static int choose_buildings(struct listen *l)
{
    struct remote_building all[BUILDINGS_MAX];
    size_t count = 0;
    const int status = remote_buildings(&l->remote, &l->arena, BUILDINGS_MAX, all, &count);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (l->options->building && strcmp(l->options->building, all[i].id.text) != 0)
            continue;
        if (l->count == EVENT_SOURCES_MAX) {
            complain("listen: the account has more than %d buildings; choose one with --building", EVENT_SOURCES_MAX);
            return EXIT_USAGE;
        }
        snprintf(l->paths[l->count], sizeof *l->paths, "/v1/buildings/%.*s/events", STR_ARG(id_str(&all[i].id)));
        l->buildings[l->count++] = all[i];
    }
    if (!l->count)
        complain("listen: the account does not have the building");
    return l->count ? EXIT_DONE : EXIT_USAGE;
}

static int listen_follow(struct listen *l)
{
    const struct event_handler handler = {.begun = listen_begun, .event = listen_event, .context = l};
    const char *paths[EVENT_SOURCES_MAX];
    for (size_t i = 0; i < l->count; i++)
        paths[i] = l->paths[i];
    printf("Secret of the signatures: %s\nForwarding to %s. Ctrl-C ends it.\n", l->secret, l->options->forward_to);
    if (fflush(stdout) != 0)
        return EXIT_FAILED;
    if (l->options->test) {
        const struct listen_event test = listen_test_event(clock_real_us());
        post_event(l, &test);
    }
    return event_sources_follow(&l->remote, paths, l->count, &handler);
}

static int listen_open(struct listen *l)
{
    const struct listen_options *o = l->options;
    int status = remote_open(o->profile, o->ca_file, &l->remote);
    if (!status && !l->remote.key) {
        complain("there is no key for %s: `portero login`, or set " REMOTE_KEY_VARIABLE, l->remote.url);
        status = EXIT_NO_KEY;
    }
    if (!status)
        status = choose_buildings(l);
    if (!status) {
        listen_secret(l->remote.key, l->secret);
        l->curl = curl_easy_init();
        l->replaying = o->replay != NULL;
        l->past = o->replay ? arena_array(&l->arena, struct listen_event, PAST_MAX) : NULL;
        status = listen_follow(l);
    }
    return status;
}

/* An http or https URL with a host; the path and query are the receiver's. */
static bool is_receiver(const char *url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL;
    const bool valid = parts && !curl_url_set(parts, CURLUPART_URL, url, CURLU_DISALLOW_USER) &&
                       !curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
                       (!strcmp(scheme, "http") || !strcmp(scheme, "https"));
    curl_free(scheme);
    curl_url_cleanup(parts);
    return valid;
}

static int listen_run(const struct command *self, const void *given, struct arguments operands)
{
    struct listen *l = mem_new(struct listen);
    (void)operands;
    l->options = given;
    int status = read_types(l, l->options->types);
    if (!status && !is_receiver(l->options->forward_to)) {
        complain("%s: --forward-to must be an http:// or https:// URL", self->name);
        status = EXIT_USAGE;
    }
    if (!status && l->options->replay && !listen_choice_read(l->options->replay, clock_real_us(), &l->choice)) {
        complain("%s: --replay must be a number from 1 to %d, a time such as 30m or 2h, or an RFC 3339 time",
                 self->name, LISTEN_REPLAY_MAX);
        status = EXIT_USAGE;
    }
    arena_init(&l->arena, NULL, 0);
    if (!status)
        status = listen_open(l);
    curl_easy_cleanup(l->curl);
    remote_done(&l->remote);
    arena_done(&l->arena);
    crypto_wipe(l->secret, sizeof l->secret);
    free(l);
    return status;
}

static const struct listen_options defaults = {.profile = PROFILE_DEFAULT};

static const struct option_row rows[] = {
    OPTION_NEEDED(struct listen_options, forward_to, "forward-to", "URL", "receiver of the events"),
    {.name = "type",
     .value = "A,B",
     .values = event_type_names,
     .doc = "only these types: access.granted, access.call_forwarded, access.denied, unlock.no_uses_remaining",
     .kind = OPTION_STRING,
     .offset = offsetof(struct listen_options, types)},
    OPTION_TEXT(struct listen_options, replay, "replay", "WHICH",
                "first send past events again: the last 5 (5), those of 30 minutes (30m), or since a time (RFC 3339)"),
    OPTION_SWITCH(struct listen_options, test, "test", "first send a webhook.test event"),
    OPTION_TEXT(struct listen_options, building, "building", "ID", "only events of this building"),
    REMOTE_ROWS(struct listen_options),
};

static void listen_more(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nThe events have the body and the signature of a webhook delivery. A line tells the\n"
          "receiver's status of each. The key needs the scopes account:read and logs:read.\n",
          out);
}

const struct command command_listen = {
    .name = "listen",
    .summary = "Forward the account's events to a receiver on this machine",
    .more = listen_more,
    COMMAND_OPTIONS(struct listen_options, rows),
    .defaults = &defaults,
    .run = listen_run,
};
