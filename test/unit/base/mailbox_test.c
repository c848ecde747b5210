#include "base/mailbox.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "unit.h"

#define PRODUCERS 4
#define LETTERS   5000

struct letter {
    struct mail mail;
    int producer, number;
};

static int last_of[PRODUCERS];
static int received;

static void receive(struct mail *m)
{
    struct letter *l = (struct letter *)m;
    assert_int_equal(l->number, last_of[l->producer] + 1); /* in the order of posting */
    last_of[l->producer] = l->number;
    received++;
    free(l);
}

static struct letter *letter_new(int producer, int number)
{
    struct letter *l = calloc(1, sizeof *l);
    assert_non_null(l);
    *l = (struct letter){.mail.run = receive, .producer = producer, .number = number};
    return l;
}

static bool readable(struct mailbox *box)
{
    struct pollfd p = {.fd = box->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void forget(void)
{
    received = 0;
    for (int i = 0; i < PRODUCERS; i++)
        last_of[i] = 0;
}

static void a_batch_costs_one_wake_up_and_is_run_in_order(void **state)
{
    (void)state;
    struct mailbox box;
    forget();
    assert_int_equal(mailbox_init(&box), ERR_NONE);
    assert_false(readable(&box));
    for (int i = 1; i <= 3; i++)
        mailbox_post(&box, &letter_new(0, i)->mail);
    assert_true(readable(&box));
    uint64_t wake_ups = 0;
    assert_int_equal(read(box.fd, &wake_ups, sizeof wake_ups), sizeof wake_ups);
    assert_int_equal(wake_ups, 1);
    mailbox_drain(&box);
    assert_int_equal(received, 3);
    mailbox_post(&box, &letter_new(0, 4)->mail);
    assert_true(readable(&box));
    mailbox_drain(&box);
    assert_false(readable(&box));
    assert_int_equal(received, 4);
    mailbox_done(&box);
}

struct producer {
    struct mailbox *box;
    int index;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (int i = 1; i <= LETTERS; i++)
        mailbox_post(p->box, &letter_new(p->index, i)->mail);
    return NULL;
}

static void mail_of_many_producers_is_not_lost(void **state)
{
    (void)state;
    struct mailbox box;
    pthread_t threads[PRODUCERS];
    struct producer producers[PRODUCERS];
    forget();
    assert_int_equal(mailbox_init(&box), ERR_NONE);
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = (struct producer){&box, i};
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
    }
    while (received < PRODUCERS * LETTERS) {
        struct pollfd p = {.fd = box.fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1); /* a lost wake-up would hang here */
        mailbox_drain(&box);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(received, PRODUCERS * LETTERS);
    mailbox_done(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_costs_one_wake_up_and_is_run_in_order),
        cmocka_unit_test(mail_of_many_producers_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
