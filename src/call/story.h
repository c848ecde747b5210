/* The story of a call: its steps, gathered in bounded memory while it goes on, and written as its record
 * (domain/call_record.h) when it has ended.
 *
 * A front end calls story_begin() when the call arrives, story_event() after each call_step(), story_action() when it
 * begins to perform an action, story_note() for facts that the machine does not know, and at the end story_write() or
 * story_submit() (call/story_task.h). Times are milliseconds since the start of the call. Keys and codes are never
 * kept. The steps that the building's feed tells (domain/feed.h) are written while the call goes on, by story_feed() or
 * story_live(), and at the end at the latest. No pointers to other memory except to constants and `last`: a copy is a
 * story. */
#pragma once
#include "call/call.h"
#include "domain/call_record.h"

struct story_task;

struct story {
    struct call_arrival arrival; /* constant after story_begin(): a decision on a store thread reads it */
    struct call_end end;         /* so far, without steps */
    const char *tone_way;        /* the way the release tone goes: "event", "tone", "info"; NULL: unknown */
    bool recorded;               /* the call leaves a record */
    bool ended;                  /* end.ended_by is set */
    bool unlogged;               /* the store failed, and the forwarding is to be recorded by the next write: */
    bool unrung;                 /* the arrival, too */
    int64_t forwarded_ms;        /* when it was forwarded, since the start */
    unsigned omitted;            /* steps for which there was no room */
    size_t fed;                  /* the bytes of `steps` that were given to the feed */
    struct story_task *last;     /* the last write of story_live(); NULL: none */
    size_t n;
    char steps[CALL_RECORD_STEPS_MAX];
};

/* `source` is an address or a provider. `to` and `from` are E.164, or ""; `to` may be an extension with a `+`, which is
 * recorded without it. */
void story_begin(struct story *s, enum call_front front, const char *source, const char *to, const char *from);
/* After call_step(c, e, …). */
void story_event(struct story *s, int64_t at_ms, const struct call *c, const struct call_event *e);
/* A decision that came after the caller had hung up. Its record stands (calls.md, step 10). */
void story_late(struct story *s, int64_t at_ms, const struct access_decision *d);
/* When the front end begins to perform the action. */
void story_action(struct story *s, int64_t at_ms, const struct call_action *a);
/* A step that only the front end knows. `text` is a word, or NULL; `number` a telephone number, of which the last four
 * digits are kept, or NULL. */
void story_note(struct story *s, int64_t at_ms, enum call_step_kind kind, const char *text, const char *number);
/* A browser hears the visitor by this key; told once for each text. */
void story_listening(struct story *s, int64_t at_ms, const char *text, const struct id *key);
/* The key of the request that opens the door: before its CALL_FORWARD_OPEN. `person`: of the website. */
void story_opener(struct story *s, const struct id *key, bool person);
/* The party or the cause that ends the call; the first one counts. Without it, the caller hung up. */
void story_ended_by(struct story *s, enum call_ended_by by);

/* A forwarding that could not be recorded when it was decided is recorded by the first of these writes, once, with its
 * own time: the log entry, the events and the beginning of the call's record. */

/* Writes the steps since the last time to the feed, in the transaction of a front end that keeps no call in memory. */
enum err story_feed(struct tx *tx, struct story *s) CHECKED;
/* Whether story_feed() would write. */
bool story_has_news(const struct story *s);
/* Writes the record of a call that has ended at at_ms, if it leaves one. */
enum err story_write(struct tx *tx, struct story *s, int64_t at_ms) CHECKED;
