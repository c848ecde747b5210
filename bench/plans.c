/* The statements of requests and calls on a large store against a small one, both on PostgreSQL and filled by
 * test/unit/store/spread.sql.
 *
 *   bench_plans fill DSN ROWS                    fills an empty store with so many grants and log entries
 *   bench_plans DSN ROWS DSN ROWS [REPEATS]      a line each: statement, time in the first and in the second, in us,
 * for a building not asked for before, then for the same once more
 *
 * Times are how long PostgreSQL takes to execute a statement, for a random building each time; the stores in turn.
 * The first includes pages that are read from the disk. */
#include <time.h>

#include "sized.h"
#include "store/spread.h"

#define REPEATS 101

static const char *const measured[] = {
    "key_authenticate", "grant_get",        "grant_list",      "grant_insert",    "grant_update",
    "access_by_number", "access_usable",    "access_take_use", "activity_insert", "activity_kind_get",
    "activity_list",    "activity_merge",   "event_listeners", "event_insert",    "call_record_write",
    "call_record_list", "account_by_email", "account_usage",   "delivery_take",   "delivery_lanes",
    "job_take",         "commit_mark_put",
};

static const struct spread_statement *statement_named(const char *name)
{
    for (size_t i = 0; i < SPREAD_STATEMENTS; i++)
        if (strcmp(spread_statements[i].name, name) == 0)
            return &spread_statements[i];
    fprintf(stderr, "bench_plans: no statement %s\n", name);
    exit(1);
}

static PGconn *open_store(const char *dsn)
{
    PGconn *conn = PQconnectdb(dsn);
    if (PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "bench_plans: %s", PQerrorMessage(conn));
        exit(1);
    }
    return conn;
}

struct side {
    PGconn *conn;
    long buildings;
    double *first, *again; /* times */
};

static struct side side_of(const char *dsn, long rows, int repeats)
{
    struct side s = {open_store(dsn), rows / 10, calloc((size_t)repeats, sizeof(double)),
                     calloc((size_t)repeats, sizeof(double))};
    spread_prepare(s.conn, rows);
    return s;
}

/* In us. */
static double time_of(struct side *s, const struct spread_statement *statement)
{
    json_t *plan = spread_explain(s->conn, "ANALYZE, TIMING OFF, ", statement->name, statement->arguments);
    const double us = json_number_value(json_object_get(plan, "Execution Time")) * 1000;
    json_decref(plan);
    return us;
}

static void measure(struct side *s, const struct spread_statement *statement, int i)
{
    spread_at(s->conn, 1 + random() % (s->buildings - 1));
    s->first[i] = time_of(s, statement);
    s->again[i] = time_of(s, statement);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *times, int repeats)
{
    qsort(times, (size_t)repeats, sizeof(double), ascending);
    return times[repeats / 2];
}

static void compare(struct side *a, struct side *b, int repeats)
{
    for (size_t k = 0; k < sizeof measured / sizeof *measured; k++) {
        const struct spread_statement *s = statement_named(measured[k]);
        for (int i = 0; i < repeats; i++) {
            measure(a, s, i);
            measure(b, s, i);
        }
        printf("%s %.1f %.1f %.1f %.1f\n", s->name, median_of(a->first, repeats), median_of(b->first, repeats),
               median_of(a->again, repeats), median_of(b->again, repeats));
        fflush(stdout);
    }
}

static void close_side(struct side *s)
{
    free(s->first);
    free(s->again);
    PQfinish(s->conn);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "fill") == 0) {
        PGconn *conn = open_store(argv[2]);
        const long rows = strtol(argv[3], NULL, 10);
        spread_fill(conn, rows, spread_more(rows));
        PQfinish(conn);
        return 0;
    }
    if (argc < 5) {
        fprintf(stderr, "usage: bench_plans fill DSN ROWS, or bench_plans DSN ROWS DSN ROWS [REPEATS]\n");
        return 2;
    }
    const int repeats = argc > 5 ? atoi(argv[5]) : sized(REPEATS, 3);
    struct side first = side_of(argv[1], strtol(argv[2], NULL, 10), repeats),
                second = side_of(argv[3], strtol(argv[4], NULL, 10), repeats);
    compare(&first, &second, repeats);
    close_side(&first);
    close_side(&second);
    return 0;
}
