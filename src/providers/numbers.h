/* Virtual numbers from a provider, Twilio or the built-in one, behind one table of functions.
 *
 * A number is acquired under a reference, the ID of its building. A repeated call with the same reference returns the
 * same number, so that a purchase that timed out is found and nothing is bought twice. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "providers/outcome.h"
#include "store/store.h"

struct number_source;

struct number_source_ops {
    /* A number of the country ("US", "CA") for the reference. *ret is E.164, in the arena. REFUSED: no number is
     * available. No purchase is begun that could last longer than until_us (monotonic). While another caller, on any
     * node, may be buying for the reference, the result is UNKNOWN. Any thread, outside of a transaction; blocks. */
    enum outcome (*acquire)(struct number_source *s, struct str reference, struct str country, int64_t until_us,
                            struct arena *a, struct str *ret);
    /* The number that was acquired under a reference. DONE with STR_NONE if there is no such number. */
    enum outcome (*find)(struct number_source *s, struct str reference, struct arena *a, struct str *ret);
    /* Releases a number for good. DONE also if the provider does not hold it for us any more. */
    enum outcome (*release)(struct number_source *s, struct str number);
    void (*free)(struct number_source *s);
};

/* The first member of every provider's struct. */
struct number_source {
    const struct number_source_ops *ops;
};

/* Opens the configured provider (numbers.provider). ret_why as in config_load. The store must outlive it. */
enum err number_source_new(const struct config *c, struct store *store, struct number_source **ret,
                           char **ret_why) CHECKED;
static inline void number_source_free(struct number_source *s)
{
    if (s)
        s->ops->free(s);
}

/* The providers. */
struct number_source *pool_numbers_new(void);
struct number_source *builtin_numbers_new(struct store *store);
enum err twilio_numbers_new(const struct config *c, struct store *store, struct number_source **ret,
                            char **ret_why) CHECKED;
