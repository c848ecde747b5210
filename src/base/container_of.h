#pragma once
#include <stddef.h>

/* The `type` whose `member` is at `pointer`. Does not compile if `pointer` has another type than &member. */
#define container_of(pointer, type, member)                                                                            \
    ((type *)(void *)((char *)_Generic((pointer), __typeof__(((type *)0)->member) *: (pointer)) -                      \
                      offsetof(type, member)))
