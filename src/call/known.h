/* The doors that calls have come to, in memory: the phones that ring when the store can be neither written nor read.
 *
 * A door is noted by each call that is decided. A thread reads it again once a minute, and within some seconds after a
 * change in this process. It is not used between a change of its account and the next read, a day after the last read,
 * and once its number is not found any more. The memory has a bound; the door that was read longest ago is the first to
 * go. All functions may be called on any thread, and all but known_start() with NULL. */
#pragma once
#include "base/arena.h"
#include "domain/access.h"
#include "store/store.h"

struct known;

/* Without a thread, which known_start() begins. Both must outlive it. */
struct known *known_new(void);
enum err known_start(struct known *k, struct store *s, const struct config *config) CHECKED;
/* Ends the thread, after its last read. Must precede the store's close. */
void known_stop(struct known *k);
void known_free(struct known *k);

/* Counts the changes so far: to be called before the store is read. */
uint64_t known_changes(struct known *k);
/* Notes the door of a dialled number, as a decision has it that was read after so many changes; a decision that rejects
 * an unknown number ends it. */
void known_note(struct known *k, uint64_t changes, const char *number, const struct access_decision *d);
/* Finds the door: *ret is ACCESS_FORWARD, without greetings, and with its strings in the arena. */
bool known_find(struct known *k, const char *number, struct arena *a, struct access_decision *ret) CHECKED;
/* Doors of these accounts were changed: none is used until it was read again. */
void known_changed(struct known *k, const struct store_fed *fed);
