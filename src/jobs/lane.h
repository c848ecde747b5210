/* The lanes of the delivery engine: one for each endpoint that has attempts in memory. A lane says how many of them may
 * be under way at once: a few at first, more as they are answered, one after one has timed out. Lanes whose last
 * answer took long, or did not come in time, are slow: together they get a part of all room, and the others always have
 * the rest. */
#pragma once
#include "domain/delivery.h"
#include "jobs/attempt.h"

#define LANE_FIRST      1
#define LANE_MOST       32
#define LANE_STEP       4    /* begun at once, as others may want a turn */
#define LANES_MOST      512  /* attempts under way */
#define LANES_MOST_SLOW 128  /* of them, on slow lanes */
#define LANES_HELD      2048 /* attempts in memory: under way, or ended and not yet recorded */
#define LANES_STEP      32   /* begun at once: what is under way grows only as fast as the engine keeps up */

struct lanes;

struct lanes *lanes_new(void);
/* Frees the attempts that are still held. */
void lanes_free(struct lanes *l);

/* How many attempts are held, and how many more there is room for. */
unsigned lanes_held(const struct lanes *l);
unsigned lanes_room(const struct lanes *l);

/* Fills in what may be taken now: lanes, lane_room, room, slow_room; in the arena. */
void lanes_offer(struct lanes *l, struct arena *a, struct delivery_take *ret);

/* An attempt is under way, in the lane of its endpoint; the lanes own it from now on. */
void lanes_enter(struct lanes *l, struct attempt *a);
/* It has ended; it is held until it is recorded. */
void lanes_end(struct lanes *l, struct attempt *a);
/* It was recorded: frees it. */
void lanes_leave(struct lanes *l, struct attempt *a);
