#include "domain/access_spoken.h"

#include "base/crypto.h"
#include "domain/access_door.h"

enum err access_spoken_codes(struct tx *tx, const struct id *building, char (*ret)[GRANT_CODE_DIGITS + 1], size_t max,
                             size_t *ret_count)
{
    struct door door;
    const struct usable *list;
    size_t count, found = 0;
    *ret_count = 0;
    enum err e = door_by_building(tx, building, STR_NONE, &door);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    e = door_usable(tx, &door, GRANT_PASSCODE, &list, &count);
    if (e)
        return e;
    for (size_t i = 0; i < count; i++) {
        const bool spoken = list[i].voice && strlen(list[i].code) <= GRANT_CODE_DIGITS;
        if (spoken && found < max)
            memcpy(ret[found], list[i].code, sizeof ret[found]);
        found += spoken;
    }
    if (count)
        crypto_wipe((void *)list, count * sizeof *list);
    *ret_count = found <= max && !door.lacks ? found : 0;
    return ERR_NONE;
}
