/* Field tables. One table describes a body; it is used to read, write and document it.
 *
 * A body is a C struct whose members are all `struct val`. A table has a row for each field, with the member's offset:
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
    T_ID,     /* T_STRING of 24 hexadecimal characters; read in either case, stored in lower case */
    T_TIME,   /* RFC 3339 date-time with offset <-> microseconds (VAL_TIME) */
    T_INT,    /* integer within min..max */
    T_NUMBER, /* output only: VAL_INT */
    T_BOOL,
    T_OBJECT,  /* described by `sub` */
    T_STRINGS, /* array of strings (VAL_LIST of VAL_STR). Requests: documented as unique, which the handler checks */
    T_OBJECTS  /* array of objects described by `sub` (VAL_LIST of structs) */
};

enum field_flag {
    F_REQUIRED = 1,
    F_NULLABLE = 2,
    F_TRIM = 4,     /* input: white space at both ends, including Unicode's, is removed first */
    F_NONBLANK = 8, /* input: not empty (after trimming, if F_TRIM) */
    F_LOWER = 16,   /* input: lower-cased (ASCII) */
    F_UPPER = 32,   /* input: upper-cased (ASCII) */
    F_UTF16 = 64,   /* min and max count UTF-16 code units, not code points */
    F_SECRET = 128, /* never written to a message or log; documented as x-sensitive */
    F_CONST = 256,  /* a constant: the only entry of `values`; for T_BOOL true, or false with F_FALSE */
    F_FALSE = 512,
    F_UNCHECKED = 1024, /* input: length, values, format and pattern are documented; the handler checks them */
    F_TAG = 2048        /* input, first field only: checked before unknown fields */
};

struct shape;

struct field {
    const char *name;
    const char *doc;
    enum field_type type;
    unsigned flags;
    size_t offset;
    int64_t min, max;    /* T_INT: range; strings: length in code points; lists: number of items. 0, 0: unlimited */
    const char *pattern; /* documented and checked; POSIX extended regular expression; set by FORM */
    const char *form;    /* the same in words, after "must be" */
    const char *format;  /* "email", "uri": documented; "email" is checked */
    const char *const *values; /* NULL-terminated: the allowed strings (of T_STRING and of T_STRINGS' items) */
    const struct shape *sub;
    enum err error;      /* error code for this field and its sub-fields; ERR_NONE: the code of the object */
    enum err null_error; /* error code for a null that is not allowed; ERR_NONE: `error` */
    const char *key;     /* `,"name":`, which FIELD sets, so that writing the name is one copy */
    size_t key_len;
};

struct shape {
    const char *name; /* name of the schema in the OpenAPI document */
    const struct field *fields;
    size_t field_count;
    size_t size; /* of the C struct */
    bool open;   /* unknown fields are ignored instead of refused */
    int least;   /* minimum number of fields; documented, the handler checks it */
    const char *doc;
    /* Alternatives, NULL-terminated, of the same C struct. Without `fields`, the first field of each variant must be
     * the same F_REQUIRED | F_CONST string member, whose value selects the variant. With `fields`, these read and write
     * the body, and the variants only document it. */
    const struct shape *const *variants;
    const char *rules; /* JSON: further members of the documented schema; the handler checks them */
};

#define FIELD(ctype, member, ftype, ...) FIELD_NAMED(ctype, member, #member, ftype, __VA_ARGS__)
/* A field whose name is not its member's. */
#define FIELD_NAMED(ctype, member, text, ftype, ...)                                                                   \
    {                                                                                                                  \
        .name = (text), .key = ",\"" text "\":", .key_len = sizeof(",\"" text "\":") - 1, .type = (ftype),             \
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

/* Why a body was refused. The message names the field and the rule: "label must be at most 120 characters". */
struct schema_fault {
    enum err error;
    struct str message; /* in the arena */
};

/* Reads the JSON object into the struct at `ret` (shape->size bytes, zeroed first). Checks the field with F_TAG, then
 * refuses unknown fields, then checks each field in the order of the table: required, type, range, length, enumeration,
 * format, pattern. Null is a wrong type unless F_NULLABLE. Strings are copied into the arena, NUL-terminated. On
 * failure returns false and fills *ret_fault with the error of the field, or `error` if it has no error of its own; the
 * message never contains a value. Patterns and tables must live as long as the process. */
bool schema_read(const struct shape *shape, const json_t *object, enum err error, struct arena *a, void *ret,
                 struct schema_fault *ret_fault);

/* Writes the struct at `body` as a JSON object. Absent members are omitted, null members are written as null. Asserts
 * that members fit the type of their row and that required ones are present. */
void schema_write(const struct shape *shape, const void *body, struct buf *out);

enum schema_use {
    SCHEMA_REQUEST, /* documents additionalProperties: false, unless the shape is open */
    SCHEMA_REPLY    /* readers must tolerate fields of later versions */
};

/* Writes the shape as an OpenAPI 3.1 (JSON Schema 2020-12) object schema. Sub-shapes and variants become references to
 * #/components/schemas. F_SECRET becomes x-sensitive. F_UTF16 lengths are written unchanged, although JSON Schema
 * counts code points. `values` accepted in either case (F_LOWER, F_UPPER) become a pattern. */
void schema_document(const struct shape *shape, enum schema_use use, struct buf *out);

/* Writes the schema of one field in the same way, without its description. */
void schema_document_field(const struct field *f, enum schema_use use, struct buf *out);

/* The documented bounds: of an integer, of a string's length, of the number of a list's items. */
struct field_bounds {
    bool low, high; /* there is such a bound */
    int64_t min, max;
};
struct field_bounds schema_bounds(const struct field *f);

/* The member that selects the variant; NULL if several variants may match. */
const struct field *schema_tag(const struct shape *shape);
