/* Any text as a configuration file: it is loaded with values in their ranges, or refused with a reason that names the
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ranges(const struct config *c)
{
#define STRING(section, key, dflt, doc)                                                                                \
    if (!c->section##_##key)                                                                                           \
        abort();
#define INTEGER(section, key, dflt, lo, hi, doc)                                                                       \
    if (c->section##_##key < (lo) || c->section##_##key > (hi))                                                        \
        abort();
#define BOOLEAN(section, key, dflt, doc)
#define CIDRS(section, key, doc)                                                                                       \
    if (!c->section##_##key)                                                                                           \
        abort();
#include "tbl/config.def"
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (!c->plans[i].currency || (c->plans[i].available && c->plans[i].amount_minor < 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct config *c = NULL;
    char *why = NULL;
    int fd = memfd_create("config", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (config_load(path, &c, &why) == ERR_NONE) {
        check_ranges(c);
        config_free(c);
    } else if (!why || strncmp(why, path, strlen(path)) != 0) {
        abort();
    }
    free(why);
    close(fd);
    return 0;
}
