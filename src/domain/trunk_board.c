#include "domain/trunk_board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct trunk_board {
    pthread_mutex_t lock;
    struct trunk_status list[TRUNK_BOARD_MAX];
    size_t count;
};

struct trunk_board *trunk_board_new(void)
{
    struct trunk_board *b = mem_new(struct trunk_board);
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void trunk_board_free(struct trunk_board *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    free(b);
}

void trunk_board_put(struct trunk_board *b, const struct trunk_status *list, size_t count)
{
    pthread_mutex_lock(&b->lock);
    memcpy(b->list, list, count * sizeof *list);
    b->count = count;
    pthread_mutex_unlock(&b->lock);
}

size_t trunk_board_list(struct trunk_board *b, struct trunk_status ret[static TRUNK_BOARD_MAX])
{
    if (!b)
        return 0;
    pthread_mutex_lock(&b->lock);
    const size_t n = b->count;
    memcpy(ret, b->list, n * sizeof *ret);
    pthread_mutex_unlock(&b->lock);
    return n;
}
