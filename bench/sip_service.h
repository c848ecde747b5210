/* The service under the benchmarks of SIP: agent, domain and a SQLite store with durable commits, on loopback. */
#pragma once
#include <errno.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "sip/sip.h"

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fprintf(stderr, "%s: not pinned to core %d\n", program_invocation_short_name, core);
}

static void remove_dir(const char *dir)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command))
        fprintf(stderr, "%s: %s is left\n", program_invocation_short_name, dir);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static const char *greeting = ""; /* greeting_welcome of every building */

/* Buildings +19990000000, +19990000001 and so on, each with the passcode 1234, the tone 9 and that greeting. */
static void seed(const char *dir, int buildings)
{
    char path[128], *sql = NULL, *why = NULL;
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/portero.db", dir);
    if (asprintf(&sql,
                 "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
                 "INSERT INTO account (id, email, created_at, plan, subscription_status) "
                 "SELECT printf('a%%023x', i), i || '@example.com', 0, 'weekly', 'active' FROM n;"
                 "INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, unlock_tone, "
                 "greeting_welcome, greeting_granted) SELECT id, 'b' || substr(id, 2), 0, 1, 'Home', "
                 "printf('+1999%%07d', email + 0), '9', '%s', '' FROM account;"
                 "INSERT INTO grant_building (id, number) SELECT id, row_number() OVER () FROM building;"
                 "INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, ends_at, "
                 "access_code) SELECT number, CAST(substr(id, 13) AS BLOB), 1, 'Visitor', 1, 0, 0, "
                 "9223372036854775807, '1234' FROM grant_building;",
                 buildings, greeting) < 0)
        fail("no memory");
    if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, &why))
        fail(why ? why : "cannot seed");
    sqlite3_close(db);
    free(sql);
}

static void run_sql(const char *dir, const char *sql)
{
    char path[128], *why = NULL;
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/portero.db", dir);
    if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, &why))
        fail(why ? why : "cannot change the store");
    sqlite3_close(db);
}

struct sip_service {
    const char *sql; /* runs after the seed; may be NULL */
    struct config *config;
    struct store *store;
    struct sip_agent *agent;
};

static struct config *configure(const char *dir, const char *voice)
{
    char path[128], *why = NULL;
    struct config *config;
    (void)snprintf(path, sizeof path, "%s/portero.conf", dir);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "data_dir = \"%s\"\nlisten { sip = \"127.0.0.1:0\" }\nvoice { %s }\n", dir, voice) < 0 ||
        fclose(f))
        fail("cannot write the configuration");
    if (config_load(path, &config, &why))
        fail(why);
    return config;
}

/* Starts it on a directory, with these keys of the section `voice`, and writes its address to a pipe. */
static void start_service(struct sip_service *s, const char *dir, const char *voice, int buildings, int address_fd)
{
    static const unsigned char master[SHA256_LEN];
    char *why = NULL;
    s->config = configure(dir, voice);
    crypto_set_master(master, NULL);
    if (store_open(s->config, true, &s->store, &why))
        fail(why);
    seed(dir, buildings);
    if (s->sql)
        run_sql(dir, s->sql);
    if (store_start(s->store) || sip_start(s->config, s->store, NULL, &s->agent, &why))
        fail(why ? why : "cannot start");
    const char *address = sip_address(s->agent);
    if (write(address_fd, address, strlen(address)) < 0)
        fail("nobody calls");
}
