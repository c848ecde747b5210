/* Virtual numbers from outside: one ops table, Twilio's REST API or the sandbox's pool behind it.
 *
 * A number is got under a reference, the ID of the building it is for: asking again with the same reference gives the
 * number that was got before, so that what a time-out left behind is found and never bought twice. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "providers/outcome.h"
#include "store/store.h"

struct number_source;

struct number_source_ops {
    /* A number of the country ("US", "CA") for the reference. *ret is E.164, in the arena. REFUSED: none is to be had.
     * No purchase is on its way after until_us (monotonic): that is how long the caller is the only one, on all nodes,
     * who asks for the reference. Any thread; blocks. */
    enum outcome (*acquire)(struct number_source *s, struct str reference, struct str country, int64_t until_us,
                            struct arena *a, struct str *ret);
    /* The number got under a reference before: DONE with STR_NONE if there is none. */
    enum outcome (*find)(struct number_source *s, struct str reference, struct arena *a, struct str *ret);
    /* Gives a number back for good; DONE also if it is not ours any more. */
    enum outcome (*release)(struct number_source *s, struct str number);
    void (*free)(struct number_source *s);
};

/* The start of every provider's own struct. */
struct number_source {
    const struct number_source_ops *ops;
};

/* The provider of the configuration (numbers.provider). ret_why as in config_load. The store must outlive it. */
enum err number_source_new(const struct config *c, struct store *store, struct number_source **ret,
                           char **ret_why) CHECKED;
static inline void number_source_free(struct number_source *s)
{
    if (s)
        s->ops->free(s);
}

/* The providers themselves. */
struct number_source *builtin_numbers_new(struct store *store);
enum err twilio_numbers_new(const struct config *c, struct number_source **ret, char **ret_why) CHECKED;
