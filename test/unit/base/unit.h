/* Shared by the unit tests of base: cmocka with the headers it needs, and assertions on slices. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline void expect_text(struct str got, const char *want, const char *file, int line)
{
    if (!str_eq(got, str_z(want)) || !got.p) {
        print_error("got  %.*s\nwant %s\n", STR_ARG(got), want);
        _fail(file, line);
    }
}
#define assert_text(got, want) expect_text((got), (want), __FILE__, __LINE__)
