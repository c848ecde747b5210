/* Calls of a front end for the unit tests of access: a caller arrives, and enters a code. */
#pragma once
#include "domain/access.h"
#include "domain/building_fixture.h"

struct arrival {
    struct str to, from;
    struct access_decision decision;
    enum access_audio audio;
};

static inline enum err arrive_run(struct tx *tx, void *arg)
{
    struct arrival *a = arg;
    return access_arrive(tx, a->to, a->from, a->audio, &a->decision);
}

static inline struct access_decision arrive_from(struct building_fixture *fx, const char *from)
{
    struct arrival a = {STR(FIXTURE_NUMBER), str_z(from), {.verdict = ACCESS_REJECT}, false};
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
    return a.decision;
}

struct entry {
    const struct id *building;
    struct str from, digits;
    enum access_way way;
    struct access_decision decision;
    enum access_audio audio;
};

static inline enum err code_run(struct tx *tx, void *arg)
{
    struct entry *e = arg;
    return access_code(tx, e->building, e->from, e->audio, e->digits, e->way, &e->decision);
}

static inline struct access_decision enter_as(struct building_fixture *fx, const char *from, const char *digits,
                                              enum access_way way)
{
    struct entry e = {&fx->building, str_z(from), str_z(digits), way, {.verdict = ACCESS_REJECT}, false};
    assert_int_equal(fixture_run(fx, STORE_WRITE, code_run, &e), ERR_NONE);
    return e.decision;
}
