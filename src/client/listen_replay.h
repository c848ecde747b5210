/* Which past events `portero listen --replay` sends, and where their reading begins in each stream. */
#pragma once
#include "client/event_source.h"
#include "client/listen_event.h"

#define LISTEN_REPLAY_MAX 200 /* events of a stream that the service sends again */

/* Choice of past events: the last `count`, or those since `since_us`. */
struct listen_choice {
    int64_t count;    /* 0: not by number */
    int64_t since_us; /* INT64_MAX: none at all */
};

/* Reads "5", "30m", "2h" or an RFC 3339 time. */
bool listen_choice_read(const char *text, int64_t now_us, struct listen_choice *ret);

/* The search for the earliest event of a stream that the service still sends. It forgets old ones, and refuses to
 * begin before its first; so the first number that works is found by halving. Begins as zeroes. */
struct listen_search {
    bool begun, done;
    int64_t asked;        /* the number asked for */
    int64_t fails, works; /* bounds: `works` is a number that it resumes at */
    int64_t newest;       /* when the search began */
};

/* The stream began at this number. Returns the number to ask for next, or -1 if reading goes on from here. */
int64_t listen_search_step(struct listen_search *s, int64_t at);
