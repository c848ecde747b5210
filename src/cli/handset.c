#include "cli/handset.h"

#include <string.h>

const char *handset_find_error(const struct handset_options *o)
{
    if (o->digits && strspn(o->digits, "0123456789*#ABCDabcd,") != strlen(o->digits))
        return "--digits must consist of 0 to 9, *, #, A to D and commas";
    return o->inband && o->info ? "--inband and --info are mutually exclusive" : NULL;
}
