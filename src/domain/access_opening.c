#include "domain/access_opening.h"

#include <glib.h>

#include "base/schedule.h"

#define WEEK 7

static const char *const numbers[] = {
    "",         "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
};
static const char *const tens[] = {"", "", "twenty", "thirty", "forty", "fifty"};

static const char *const ordinals[] = {
    "",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
    "thirtieth",
    "thirty-first",
};

static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"",     "January", "February",  "March",   "April",    "May",     "June",
                                     "July", "August",  "September", "October", "November", "December"};

static struct str say_minute(int minute, struct arena *a)
{
    if (!minute)
        return STR("");
    if (minute < 10)
        return arena_printf(a, " oh %s", numbers[minute]);
    if (minute <= 20)
        return arena_printf(a, " %s", numbers[minute]);
    return arena_printf(a, " %s%s%s", tens[minute / 10], minute % 10 ? "-" : "", numbers[minute % 10]);
}

static struct str say_time(int minute, struct arena *a)
{
    const int hour = minute / 60;
    if (minute == 0)
        return STR("midnight");
    if (minute == 12 * 60)
        return STR("noon");
    return arena_printf(a, "%s%.*s in the %s", numbers[(hour + 11) % 12 + 1], STR_ARG(say_minute(minute % 60, a)),
                        hour < 12   ? "morning"
                        : hour < 18 ? "afternoon"
                                    : "evening");
}

static int days_between(const struct schedule_time *from, const struct schedule_time *to)
{
    GDate first, last;
    g_date_clear(&first, 1);
    g_date_clear(&last, 1);
    g_date_set_dmy(&first, (GDateDay)from->day, (GDateMonth)from->month, (GDateYear)from->year);
    g_date_set_dmy(&last, (GDateDay)to->day, (GDateMonth)to->month, (GDateYear)to->year);
    return g_date_days_between(&first, &last);
}

static struct str say_day(const struct schedule_time *now, const struct schedule_time *opens, struct arena *a)
{
    const int days = days_between(now, opens);
    if (days == 0)
        return STR("");
    if (days == 1)
        return STR(" tomorrow");
    if (days < WEEK)
        return arena_printf(a, " on %s", weekdays[opens->weekday]);
    return arena_printf(a, " on %s %s", months[opens->month], ordinals[opens->day]);
}

struct str opening_text(const struct access_near *near, int64_t now_us, struct arena *a)
{
    struct schedule_time now, opens;
    if (!near->opens_us || !schedule_local(near->timezone, now_us, &now) ||
        !schedule_local(near->timezone, near->opens_us, &opens))
        return STR_NONE;
    return arena_printf(a, "This code opens%.*s at %.*s.", STR_ARG(say_day(&now, &opens, a)),
                        STR_ARG(say_time(opens.minute, a)));
}
