/* No number provider: buildings have numbers of the operator's pool (domain/number.h), and nothing is bought. */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "providers/numbers.h"

static enum outcome pool_acquire(struct number_source *s, struct str reference, struct str country, int64_t until_us,
                                 struct arena *a, struct str *ret)
{
    (void)s, (void)until_us, (void)a, (void)ret;
    log_warn("numbers pool=empty building=%.*s country=%.*s command=\"porterod admin number add\"", STR_ARG(reference),
             STR_ARG(country));
    return OUTCOME_REFUSED;
}

static enum outcome pool_find(struct number_source *s, struct str reference, struct arena *a, struct str *ret)
{
    (void)s, (void)reference, (void)a;
    *ret = STR_NONE;
    return OUTCOME_DONE;
}

/* A number of an earlier provider, which nobody can be asked to take back. */
static enum outcome pool_release(struct number_source *s, struct str number)
{
    (void)s;
    log_warn("numbers released=%.*s advice=\"an earlier provider sold it: release it there\"", STR_ARG(number));
    return OUTCOME_DONE;
}

static void pool_free(struct number_source *s)
{
    free(s);
}

static const struct number_source_ops pool_ops = {
    .acquire = pool_acquire, .find = pool_find, .release = pool_release, .free = pool_free};

struct number_source *pool_numbers_new(void)
{
    struct number_source *s = mem_new(struct number_source);
    s->ops = &pool_ops;
    return s;
}
