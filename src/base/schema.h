/* Field tables: one description of a body, used to read it, to write it and to document it.
 *
 * A body is a C struct whose members are all `struct val`. A table has one row per field, naming the member by offset:
 *
 *     struct otp_request { struct val email; };
 *     static const struct field otp_request_fields[] = {
 *         FIELD(struct otp_request, email, T_STRING, .flags = F_REQUIRED, .format = "email", .max = 254,
 *               .doc = "the address to sign in with"),
 *     };
 *     const struct shape otp_request_shape = SHAPE(struct otp_request, "OtpRequest", otp_request_fields);
 */
#pragma once
#include "base/arena.h"
#include "base/json.h"
#include "base/val.h"

enum field_type {
    T_STRING,
    T_ID,     /* T_STRING of 24 hex characters; read in either case, normalised to lower */
    T_TIME,   /* RFC 3339 date-time with offset <-> microseconds (VAL_TIME) */
    T_INT,    /* integer within min..max */
    T_NUMBER, /* output only: VAL_INT written as is */
    T_BOOL,
    T_OBJECT,  /* described by `sub` */
    T_STRINGS, /* array of strings (VAL_LIST of VAL_STR); in a request documented as without duplicates, which the
                * handler refuses */
    T_OBJECTS  /* array of objects described by `sub` (VAL_LIST of structs) */
};

enum field_flag {
    F_REQUIRED = 1,
    F_NULLABLE = 2,
    F_TRIM = 4,     /* input: white space at both ends, Unicode's too, is removed first */
    F_NONBLANK = 8, /* input: not empty (after trimming, if F_TRIM) */
    F_LOWER = 16,   /* input: lower-cased (ASCII) */
    F_UPPER = 32,   /* input: upper-cased (ASCII) */
    F_UTF16 = 64,   /* min and max count UTF-16 code units, not code points */
    F_SECRET = 128, /* never repeated in a message or log; documented as such */
    F_CONST = 256,  /* a constant: the only entry of `values`, or true for T_BOOL (false with F_FALSE) */
    F_FALSE = 512,
    F_UNCHECKED =
        1024,    /* input: a string's length, values, format and pattern are documented, but left to the handler */
    F_TAG = 2048 /* input, of the first field: checked before unknown fields are refused */
};

struct shape;

struct field {
    const char *name;
    const char *doc;
    enum field_type type;
    unsigned flags;
    size_t offset;
    int64_t min, max;          /* T_INT: the range. Strings: length in code points; lists: item count. 0, 0: any */
    const char *pattern;       /* documented and checked: a POSIX extended regular expression, no look-ahead */
    const char *format;        /* "email", "uri": documented; "email" is checked */
    const char *const *values; /* NULL-terminated: the allowed strings (of T_STRING and of T_STRINGS' items) */
    const struct shape *sub;
    enum err error;      /* what this field's own failure answers, and those within it; ERR_NONE: as around it */
    enum err null_error; /* what a null answers where none is allowed; ERR_NONE: the same */
    const char
        *key; /* `,"name":`, so that writing costs one copy; FIELD fills it, without it the name is quoted anew */
    size_t key_len;
};

struct shape {
    const char *name; /* name of the schema in the OpenAPI document */
    const struct field *fields;
    size_t field_count;
    size_t size; /* of the C struct */
    bool open;   /* unknown fields are ignored, not refused */
    int least;   /* how many fields an object has at least: documented, but left to the handler */
    const char *doc;
    /* The shapes it can have, NULL-terminated, all of the same C struct and size. The first field of each, the same for
     * all, is an F_REQUIRED | F_CONST string, which tells them apart. With fields, too: those read and write it, the
     * variants document it, and need no such string. */
    const struct shape *const *variants;
    const char *rules; /* further members of its documented schema, JSON: what no field says. Left to the handler */
};

#define FIELD(ctype, member, ftype, ...)                                                                               \
    {                                                                                                                  \
        .name = #member, .key = ",\"" #member "\":", .key_len = sizeof(",\"" #member "\":") - 1, .type = (ftype),      \
        .offset = offsetof(ctype, member), __VA_ARGS__                                                                 \
    }
#define SHAPE_OF_VARIANTS(ctype, title, list, ...)                                                                     \
    {                                                                                                                  \
        .name = (title), .size = sizeof(ctype), .variants = (list), __VA_ARGS__                                        \
    }
#define SHAPE(ctype, title, table, ...)                                                                                \
    {                                                                                                                  \
        .name = (title), .fields = (table), .field_count = sizeof(table) / sizeof *(table), .size = sizeof(ctype),     \
        __VA_ARGS__                                                                                                    \
    }

/* Why a body was refused: the message names the field and the rule, e.g. "label must be at most 120 characters". */
struct schema_fault {
    enum err error;
    struct str message; /* in the arena */
};

/* Reads `object` (a JSON object) into the struct at `ret` (of shape->size bytes, zeroed by this function). An unknown
 * field is refused first, after a field with F_TAG; then each field is checked in the table's order: required, type,
 * range, length, enumeration, format, pattern. Null is a wrong type unless F_NULLABLE. A number without a fraction is
 * an integer, as json_read gives it. Strings are copied into the arena, NUL-terminated. On failure fills *ret_fault
 * with the field's error, or `error` if it has none; the message never repeats a value. Patterns and tables must live
 * as long as the process. */
bool schema_read(const struct shape *shape, const json_t *object, enum err error, struct arena *a, void *ret,
                 struct schema_fault *ret_fault);

/* Writes the struct at `body` as a JSON object: absent members are left out, null ones written as null. A member whose
 * kind does not fit its row, or a required one that is absent, is a bug of ours (assertion). */
void schema_write(const struct shape *shape, const void *body, struct buf *out);

enum schema_use {
    SCHEMA_REQUEST, /* unknown fields are refused, so the document says additionalProperties: false (unless open) */
    SCHEMA_REPLY    /* readers must tolerate fields that a later version adds */
};

/* Writes the shape as an OpenAPI 3.1 (JSON Schema 2020-12) object schema; sub-shapes and variants are references to
 * #/components/schemas by their names. F_SECRET is written as x-sensitive. F_UTF16 lengths are given as they are,
 * though JSON Schema counts code points. `values` that are taken in either case (F_LOWER, F_UPPER) are written as a
 * pattern. */
void schema_document(const struct shape *shape, enum schema_use use, struct buf *out);
