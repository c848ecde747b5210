/* Checks that the store is sound: its files, counts that are kept, rows that belong to others. Reads only, in bounded
 * memory. */
#pragma once
#include "domain/tx.h"

struct check {
    const char *name;
    const char *fault; /* the fault of a row that it finds */
    enum sql statement;
};

extern const struct check checks_of_store[];
extern const size_t check_count;

struct check_result {
    const struct check *check; /* to run */
    int64_t faults;
    char example[200]; /* the least of the rows */
};

/* A body that runs the check of the struct check_result at `arg`. */
enum err check_run(void *arg, struct db *db) CHECKED;
