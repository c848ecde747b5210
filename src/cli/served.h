/* The routes and the kinds of jobs that the configured service has. */
#pragma once
#include "api/route.h"
#include "base/config.h"
#include "jobs/queue.h"
#include "providers/providers.h"

#define SERVED_SETS_MAX  72
#define SERVED_KINDS_MAX 16

struct served {
    const struct route_set *sets[SERVED_SETS_MAX]; /* in the order in which they are searched */
    size_t set_count;
    struct job_kind kinds[SERVED_KINDS_MAX];
    size_t kind_count;
};

/* The kinds keep the providers, which must live as long. */
void served_choose_kinds(struct served *s, struct providers *providers);
void served_choose_routes(struct served *s, const struct config *c, const struct providers *providers);
