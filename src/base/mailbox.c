#include "base/mailbox.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum err mailbox_init(struct mailbox *box)
{
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0)
        return ERR_IO;
    atomic_init(&box->head, NULL);
    box->fd = fd;
    return ERR_NONE;
}

void mailbox_done(struct mailbox *box)
{
    if (box->fd > 0)
        close(box->fd);
    box->fd = -1;
}

void mailbox_post(struct mailbox *box, struct mail *m)
{
    struct mail *head = atomic_load_explicit(&box->head, memory_order_relaxed);
    do
        m->next = head;
    while (!atomic_compare_exchange_weak_explicit(&box->head, &head, m, memory_order_acq_rel, memory_order_relaxed));
    if (!head) {
        uint64_t one = 1;
        /* The counter cannot overflow: it is read before the mailbox is emptied. */
        ssize_t written = write(box->fd, &one, sizeof one);
        (void)written;
    }
}

void mailbox_drain(struct mailbox *box)
{
    uint64_t count;
    ssize_t got = read(box->fd, &count, sizeof count);
    (void)got;
    struct mail *newest = atomic_exchange_explicit(&box->head, NULL, memory_order_acq_rel);
    struct mail *oldest = NULL;
    while (newest) {
        struct mail *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct mail *next = oldest->next;
        oldest->run(oldest);
        oldest = next;
    }
}
