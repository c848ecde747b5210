/* The endpoints that the delivery engine has attempts for, each with a window: the number of attempts that may be in
 * progress at once. The window begins at one, doubles with every answer, and falls back to one after a timeout.
 *
 * An endpoint is slow if its last answer took longer than a second, or timed out. All slow endpoints together may use a
 * part of the engine's capacity; the rest is always free for the others. In the same way, the endpoints of one account
 * may use a quarter of it, and of the part of slow endpoints. The domain and the store call an endpoint's
 * queue of due deliveries a lane (domain/delivery.h, table delivery_lane). */
#pragma once
#include "domain/delivery.h"
#include "jobs/attempt.h"

#define ENDPOINT_WINDOW_FIRST 1
#define ENDPOINT_WINDOW_MAX   32
#define ENDPOINT_OFFER_MAX    4    /* begun in one round, so that others have their turn */
#define ENDPOINTS_ACTIVE_MAX  512  /* attempts in progress */
#define ENDPOINTS_SLOW_MAX    128  /* of them, for slow endpoints */
#define ENDPOINTS_ACCOUNT     4    /* one account's endpoints may use one part in four of each of the two */
#define ENDPOINTS_HELD_MAX    2048 /* attempts in memory: in progress, or ended and not yet recorded */
#define ENDPOINTS_OFFER_MAX   32   /* begun in one round, so that the load grows no faster than the engine keeps up */

struct endpoints;

struct endpoints *endpoints_new(void);
/* Frees the attempts that are still held, too. */
void endpoints_free(struct endpoints *s);

/* The number of attempts that are held, and the number of attempts that may be added. */
unsigned endpoints_held(const struct endpoints *s);
unsigned endpoints_room(const struct endpoints *s);

/* Sets the limits of the next take: lanes, and the numbers of room. Arrays are in the arena. */
void endpoints_offer(struct endpoints *s, struct arena *a, struct delivery_take *ret);

/* Adds an attempt that begins now. The endpoints own it until endpoints_remove. */
void endpoints_begin(struct endpoints *s, struct attempt *a);
/* The attempt has ended: adapts the window. The attempt is held until it is recorded. */
void endpoints_end(struct endpoints *s, struct attempt *a);
/* The attempt is recorded: frees it. */
void endpoints_remove(struct endpoints *s, struct attempt *a);
