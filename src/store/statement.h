/* How a named statement is called, and what it returns: the types of which scripts/sqlgen.awk makes sql.h.
 *
 * A parameter and a column of a statement have a name and a kind (store/sql/<group>.sql):
 *
 * | kind                | parameter                                   | column                              |
 * |---------------------|---------------------------------------------|-------------------------------------|
 * | text, json          | struct str; STR_NONE is NULL                | the same                            |
 * | blob                | struct str; STR_NONE is NULL                | the same                            |
 * | id                  | const struct id *; NULL or an empty: NULL   | struct id; empty for NULL           |
 * | idbytes             | const struct id_bytes *; NULL is NULL       | struct id, as 12 bytes in the store |
 * | int, time           | int64_t; times are microseconds             | the same; 0 for NULL                |
 * | bool                | bool                                        | the same; false for NULL            |
 * | int?, time?, bool?  | struct val: v_null(), v_int() and so on     | the same; NULL and 0 differ         |
 * | any                 | struct val, for columns of several kinds    | none                                |
 */
#pragma once
#include "base/id.h"
#include "base/val.h"

enum sql_kind {
    SQL_KIND_NOTHING, /* a column without a name */
    SQL_KIND_TEXT,
    SQL_KIND_JSON,
    SQL_KIND_BLOB,
    SQL_KIND_ID,
    SQL_KIND_IDBYTES,
    SQL_KIND_INT,
    SQL_KIND_TIME,
    SQL_KIND_BOOL,
    SQL_KIND_INT_OR_NULL,
    SQL_KIND_TIME_OR_NULL,
    SQL_KIND_BOOL_OR_NULL,
    SQL_KIND_ANY
};

/* A member of struct args_… or struct row_…. */
struct sql_field {
    const char *name;
    enum sql_kind kind;
    size_t at;
};

/* A statement with its arguments: the first member of struct args_…. */
struct db_call {
    int statement; /* enum sql; it has the parameters of … */
    int form;      /* … this statement, whose struct this is */
};

struct cursor;
/* Reads the current row into the struct row_… of these columns, which must be the columns of the cursor's statement.
 * Text and blobs are copied to the arena; without one they are valid until the next db_next or db_end. */
void db_row(const struct cursor *c, const struct sql_field *columns, struct arena *a, void *ret);
/* The column of sql_table[…].columns[i], for a statement that is known at run time. IDs are texts, or blobs if they are
 * bytes in the store. The arena is as for db_row. */
struct val db_column(const struct cursor *c, int i, struct arena *a);

/* A call: SQL(operation_get, .account_id = account, .id = id) is a const struct db_call *, valid in its block. Each
 * argument must be given once, by its name: the number is asserted when compiled, gcc and clang refuse a name that is
 * given twice or unknown, and gcc an argument without one. */
#define SQL(...) SQL_COUNTED(SQL_COUNT_ARGS(__VA_ARGS__), __VA_ARGS__, )
/* The same for a statement that is known at run time, with the arguments of a named one: SQL_AS(sweeps[i],
 * erasure_keys, …). Its parameters must have the same names and kinds. */
#define SQL_AS(statement, ...) SQL_COUNTED_AS((statement), SQL_COUNT_ARGS(__VA_ARGS__), __VA_ARGS__, )

/* The arguments of a call that outlives the block; its `call` is what SQL() gives. */
#define SQL_ARGS(...) SQL_COUNTED_ARGS(SQL_COUNT_ARGS(__VA_ARGS__), __VA_ARGS__, )

#define SQL_COUNTED_ARGS(count, name, ...)          SQL_STRUCT(CALL_##name, count, name, __VA_ARGS__)
#define SQL_COUNTED(count, name, ...)               SQL_CALL(CALL_##name, count, name, __VA_ARGS__)
#define SQL_COUNTED_AS(statement, count, name, ...) SQL_CALL(statement, count, name, __VA_ARGS__)
#define SQL_CALL(...)                               (&SQL_STRUCT(__VA_ARGS__).call)
#define SQL_STRUCT(statement_, count, name, ...)                                                                       \
    ((const struct args_##name){                                                                                       \
        .call = {(int)(statement_), CALL_##name + 0 * (int)sizeof(SQL_COMPLETE((count) == ARGS_##name))},              \
        __VA_ARGS__})
#define SQL_COMPLETE(complete)                                                                                         \
    struct {                                                                                                           \
        int unused;                                                                                                    \
        _Static_assert(complete, "a call gives each argument of its statement once");                                  \
    }
/* The number of arguments after the name; at most 31. */
#define SQL_COUNT_ARGS(...)                                                                                            \
    SQL_32ND(__VA_ARGS__, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9,   \
             8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define SQL_32ND(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21,   \
                 _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, count, ...)                                         \
    count

/* gcc warns of an argument without a name. */
#ifdef __clang__
#define SQL_NAMED
#else
#define SQL_NAMED __attribute__((designated_init))
#endif
