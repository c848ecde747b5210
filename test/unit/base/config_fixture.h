/* A directory of its own for a test of the configuration, which becomes the current one, and an environment without
 * overrides. */
#pragma once
#include <unistd.h>

#include "base/config.h"
#include "unit.h"

static char config_fixture_dir[64];

static inline void config_fixture_clean_environment(void)
{
    for (char **e = environ; *e;) {
        char name[200];
        if (strncmp(*e, "PORTERO_", 8) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
            unsetenv(name);
            e = environ; /* it has moved */
        } else {
            e++;
        }
    }
}

static inline int config_fixture_setup(void **state)
{
    (void)state;
    config_fixture_clean_environment();
    strcpy(config_fixture_dir, "/tmp/portero-config-XXXXXX");
    return mkdtemp(config_fixture_dir) && chdir(config_fixture_dir) == 0 ? 0 : -1;
}

static inline int config_fixture_teardown(void **state)
{
    (void)state;
    config_fixture_clean_environment();
    unlink("portero.conf");
    unlink("secret");
    return chdir("/") == 0 && rmdir(config_fixture_dir) == 0 ? 0 : -1;
}

static inline void write_file(const char *name, struct str text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    assert_int_equal(fclose(f), 0);
}
