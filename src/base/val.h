/* A value of a JSON member, a query parameter or a column.
 *
 * Bodies are C structs whose members are all `struct val`; field tables (base/schema.h) map them to fields. Absent and
 * null differ, as in a PATCH body. Strings and lists are not owned. */
#pragma once
#include <assert.h>

#include "base/str.h"

enum val_kind {
    VAL_ABSENT = 0,
    VAL_NULL,
    VAL_BOOL,
    VAL_INT,
    VAL_TIME,   /* i: microseconds since the Unix epoch, UTC */
    VAL_STR,    /* s: UTF-8 */
    VAL_BLOB,   /* s: bytes; store only */
    VAL_OBJECT, /* ptr: a struct of vals, whose shape is in the field table */
    VAL_LIST    /* ptr, count: an array of vals (scalars) or of structs of vals (objects) */
};

struct val {
    enum val_kind kind;
    uint32_t count; /* of a list */
    union {
        bool b;
        int64_t i;
        struct str s;
        const void *ptr;
    };
};

static inline struct val v_null(void)
{
    return (struct val){.kind = VAL_NULL};
}
static inline struct val v_bool(bool b)
{
    return (struct val){.kind = VAL_BOOL, .b = b};
}
static inline struct val v_int(int64_t i)
{
    return (struct val){.kind = VAL_INT, .i = i};
}
static inline struct val v_time(int64_t at_us)
{
    return (struct val){.kind = VAL_TIME, .i = at_us};
}
/* 0 gives null. */
static inline struct val v_time_or_null(int64_t at_us)
{
    return at_us ? v_time(at_us) : v_null();
}
/* STR_NONE gives null. */
static inline struct val v_str(struct str s)
{
    return s.p ? (struct val){.kind = VAL_STR, .s = s} : v_null();
}
static inline struct val v_blob(const void *p, size_t n)
{
    return (struct val){.kind = VAL_BLOB, .s = {p, n}};
}
static inline struct val v_object(const void *ptr)
{
    return (struct val){.kind = VAL_OBJECT, .ptr = ptr};
}
static inline struct val v_list(const void *ptr, size_t count)
{
    return (struct val){.kind = VAL_LIST, .count = (uint32_t)count, .ptr = ptr};
}
static inline bool v_given(struct val v)
{
    return v.kind != VAL_ABSENT;
}
/* Whether a structure, whose members are all struct val, has one that is given. */
static inline bool v_any_given(const void *members, size_t size)
{
    for (size_t i = 0; i < size / sizeof(struct val); i++)
        if (v_given(((const struct val *)members)[i]))
            return true;
    return false;
}
/* Given and not null. */
static inline bool v_set(struct val v)
{
    return v.kind > VAL_NULL;
}
/* An integer or a time, `otherwise` for null. */
static inline int64_t v_int_or(struct val v, int64_t otherwise)
{
    assert(!v_set(v) || v.kind == VAL_INT || v.kind == VAL_TIME);
    return v_set(v) ? v.i : otherwise;
}
static inline bool v_bool_or(struct val v, bool otherwise)
{
    assert(!v_set(v) || v.kind == VAL_BOOL);
    return v_set(v) ? v.b : otherwise;
}
