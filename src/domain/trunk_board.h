/* The state of the trunks, as the SIP user agent last published it, for the operator. Any thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TRUNK_BOARD_MAX 32

struct trunk_status {
    char name[33], server[280], state[12], transport[8];
    char error[160];  /* the last one, "" if there was none */
    int64_t since_us; /* of the state */
    unsigned calls_in, calls_out;
};

struct trunk_board;

struct trunk_board *trunk_board_new(void);
void trunk_board_free(struct trunk_board *b);
/* Replaces all of them; at most TRUNK_BOARD_MAX. */
void trunk_board_put(struct trunk_board *b, const struct trunk_status *list, size_t count);
/* Copies all of them and returns their number; 0 for a board that is NULL. */
size_t trunk_board_list(struct trunk_board *b, struct trunk_status ret[static TRUNK_BOARD_MAX]);
