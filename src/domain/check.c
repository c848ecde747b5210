#include "domain/check.h"

#include <stdio.h>

#include "store/store.h"

const struct check checks_of_store[] = {
    {"integrity", "the database is damaged", SQL_CHECK_INTEGRITY},
    {"buildings", "a building has no account", SQL_CHECK_BUILDING_ACCOUNT},
    {"primary buildings", "an account has not exactly one primary building", SQL_CHECK_PRIMARY},
    {"numbers", "a building's number belongs to another, or to none", SQL_CHECK_BUILDING_NUMBER},
    {"members", "a member has no building", SQL_CHECK_MEMBER},
    {"keys", "a key has no account or building", SQL_CHECK_KEY},
    {"browsers", "a browser has no key, or that of another account", SQL_CHECK_BROWSER},
    {"assistants", "an assistant's grant has no agent key, or its key has more scopes", SQL_CHECK_OAUTH_GRANT},
    {"assistants' codes", "a code has no account, or a key that is not its account's", SQL_CHECK_OAUTH_CODE},
    {"grants", "grants have no building (its number in grant_building)", SQL_CHECK_GRANT_BUILDING},
    {"grant counts", "the count of a building's grants is wrong", SQL_CHECK_GRANT_COUNT},
    {"log entries", "log entries of a building have no text", SQL_CHECK_ACTIVITY},
    {"recordings", "a recorded greeting has no building", SQL_CHECK_RECORDING},
    {"deliveries", "a pending delivery has no event", SQL_CHECK_DELIVERY},
    {"delivery lanes", "pending deliveries of an endpoint would not be taken in time", SQL_CHECK_DELIVERY_LANE},
};
const size_t check_count = sizeof checks_of_store / sizeof *checks_of_store;

enum err check_run(void *arg, struct db *db)
{
    struct check_result *result = arg;
    CURSOR c;
    enum err e = db_one(db, SQL_AS(result->check->statement, check_recording), &c);
    if (e)
        return e;
    const struct row_check_recording row = row_check_recording(&c, NULL);
    result->faults = row.faults;
    snprintf(result->example, sizeof result->example, "%.*s", STR_ARG(row.example));
    return ERR_NONE;
}
