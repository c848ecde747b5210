#include "client/day_words.h"

#include <strings.h>

#define DAYS               7
#define LEAST_ABBREVIATION 2

const char *const day_words_names[] = {"sunday",   "monday", "tuesday",  "wednesday",
                                       "thursday", "friday", "saturday", NULL};

static const struct {
    const char *word;
    unsigned days; /* a bit each, from sunday, 1 */
} groups[] = {
    {"weekdays", 0x3e}, {"weekday", 0x3e}, {"weekend", 0x41}, {"weekends", 0x41}, {"daily", 0x7f}, {"everyday", 0x7f},
};

/* The number of a day by its name or the beginning of it, from sunday, 0; -1: none. */
static int day_of(struct str word)
{
    for (int i = 0; i < DAYS; i++) {
        const struct str name = str_z(day_words_names[i]);
        if (word.n >= LEAST_ABBREVIATION && word.n <= name.n && strncasecmp(word.p, name.p, word.n) == 0)
            return i;
    }
    return -1;
}

/* The days of a word, as bits from sunday, 1; 0: not understood. */
static unsigned days_of(struct str word)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (str_eqi(word, str_z(groups[i].word)))
            return groups[i].days;
    struct str last;
    const struct str first = str_cut(word, '-', &last);
    const int from = day_of(str_trim(first)), to = last.p ? day_of(str_trim(last)) : from;
    if (from < 0 || to < 0)
        return 0;
    unsigned days = 1U << to;
    for (int i = from; i != to; i = (i + 1) % DAYS)
        days |= 1U << i;
    return days;
}

json_t *day_words_read(struct str text)
{
    json_t *words = json_array();
    unsigned days = 0;
    for (struct str rest = text, word; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        const unsigned more = days_of(word);
        days |= more;
        if (!more)
            json_array_append_new(words, json_stringn(word.p, word.n));
    }
    for (int i = 0; i < DAYS; i++)
        if (days & 1U << i)
            json_array_append_new(words, json_string(day_words_names[i]));
    return words;
}
