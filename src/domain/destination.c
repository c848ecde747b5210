#include "domain/destination.h"

bool destination_allowed(const struct config *c, struct str number)
{
    const char *const *list = c->voice_destinations;
    bool allowed = !list || !list[0];
    size_t longest = 0;
    for (; list && *list; list++) {
        const bool exempt = **list == '!';
        const struct str prefix = str_z(*list + exempt);
        if (prefix.n > longest && str_starts(number, prefix)) {
            allowed = !exempt;
            longest = prefix.n;
        }
    }
    return allowed;
}
