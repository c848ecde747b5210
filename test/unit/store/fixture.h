/* A store of its own for one test, in a directory of its own that disappears with it. For tests of any room.
 *
 *     static int setup(void **state) { return store_fixture_open(state); }       cmocka setup
 *     static int teardown(void **state) { return store_fixture_close(state); }
 *     …  struct store_fixture *f = *state; store_run(f->store, …);  f->config is what the store was opened with. */
#pragma once
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

struct store_fixture {
    struct config config;
    struct store *store;
    char dir[64];
};

static inline int store_fixture_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Opens (again) and starts the store of f->config. */
static inline int store_fixture_start(struct store_fixture *f)
{
    char *why = NULL;
    if (store_open(&f->config, true, &f->store, &why)) {
        fprintf(stderr, "store_open: %s\n", why ? why : "?");
        free(why);
        return -1;
    }
    if (store_start(f->store)) {
        store_close(f->store);
        return -1;
    }
    return 0;
}

static inline int store_fixture_open(void **state)
{
    struct store_fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    snprintf(f->dir, sizeof f->dir, "/tmp/portero-test-XXXXXX");
    if (!mkdtemp(f->dir)) {
        free(f);
        return -1;
    }
    f->config = (struct config){.engine = ENGINE_SQLITE, .top_data_dir = f->dir};
    *state = f;
    return store_fixture_start(f);
}

static inline int store_fixture_close(void **state)
{
    struct store_fixture *f = *state;
    store_close(f->store);
    nftw(f->dir, store_fixture_unlink, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}
