/* A billing provider over a store of its own, for one test. */
#pragma once
#include "providers/billing.h"
#include "store/fixture.h"

struct fixture {
    struct store_fixture *fixture;
    struct billing *billing;
    const struct billing_ops *ops;
    struct arena arena;
};

/* `configure` names the provider and the plans. */
static inline int billing_fixture_open(void **state, void (*configure)(struct config *c))
{
    struct fixture *d = calloc(1, sizeof *d);
    void *fixture;
    char *why = NULL;
    if (!d || store_fixture_open(&fixture))
        return -1;
    d->fixture = fixture;
    configure(&d->fixture->config);
    arena_init(&d->arena, NULL, 0);
    *state = d;
    if (billing_new(&d->fixture->config, d->fixture->store, &d->billing, &why))
        return -1;
    d->ops = d->billing->ops;
    return 0;
}

static inline int billing_fixture_close(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    billing_free(d->billing);
    arena_done(&d->arena);
    free(d);
    return store_fixture_close(&fixture);
}
