#include "domain/browser.h"

struct mark {
    const char *mark, *name;
};

/* The first mark that the field contains decides: many browsers also name those they are compatible with. */
static const struct mark programs[] = {
    {"Edg", "Edge"},       {"OPR/", "Opera"},       {"SamsungBrowser/", "Samsung Internet"},
    {"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"}, {"CriOS/", "Chrome"},
    {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
};
static const struct mark systems[] = {
    {"iPhone", "iPhone"}, {"iPad", "iPad"},       {"Android", "Android"}, {"Windows", "Windows"},
    {"CrOS", "ChromeOS"}, {"Macintosh", "macOS"}, {"Linux", "Linux"},
};

static const char *name_of(struct str field, const struct mark *marks, size_t count)
{
    for (size_t i = 0; i < count && field.n; i++)
        if (memmem(field.p, field.n, marks[i].mark, strlen(marks[i].mark)))
            return marks[i].name;
    return NULL;
}

struct browser_names browser_names(struct str user_agent)
{
    return (struct browser_names){name_of(user_agent, programs, sizeof programs / sizeof *programs),
                                  name_of(user_agent, systems, sizeof systems / sizeof *systems)};
}
