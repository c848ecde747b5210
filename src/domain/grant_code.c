#include "domain/grant_code.h"

#define CODES      10000
#define TRIES      8 /* random codes to try before all codes are read */
#define LONG       6 /* digits of a code that opens for long */
#define MILLION    1000000
#define LONG_TRIES 64
#define LONG_US    (31 * 86400 * US_PER_S)

static const char *const easy_codes[] = {
#define EASY_CODE(digits) digits,
#include "tbl/easy_codes.def"
#undef EASY_CODE
};

bool grant_code_is_easy(struct str code)
{
    for (size_t i = 0; i < sizeof easy_codes / sizeof *easy_codes; i++)
        if (str_eq(code, str_z(easy_codes[i])))
            return true;
    for (size_t i = 2; i < code.n; i++)
        if (code.p[i] - code.p[i - 1] != code.p[1] - code.p[0])
            return false;
    return true;
}

static enum err grant_code_taken(struct tx *tx, const struct id *building, const struct grant *g, bool *ret_taken)
{
    CURSOR c;
    const struct id_bytes id = id_to_bytes(&g->id);
    enum err e = db_one(
        tx->db,
        SQL(grant_code_taken, .building_id = building, .access_code = str_z(g->code), .id = &id, .now = tx->now_us),
        &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret_taken = !e;
    return ERR_NONE;
}

/* Takes g's code from a passcode that cannot open any more: it is switched off, and needs another code to open again.
 */
static enum err take_code(struct tx *tx, const struct id *building, const struct grant *g)
{
    const struct id_bytes id = id_to_bytes(&g->id);
    int64_t released;
    if (!g->enabled)
        return ERR_NONE;
    enum err e = db_exec(tx->db,
                         SQL(grant_code_release, .building_id = building, .access_code = str_z(g->code), .id = &id,
                             .request_key = crypto_hash64(g->request_id), .updated_at = tx->now_us),
                         &released);
    if (e || !released)
        return e;
    return db_exec(tx->db, SQL(grant_count_add, .building_id = building, .change = -released), NULL);
}

enum err grant_code_check(struct tx *tx, const struct id *building, const struct grant *g)
{
    bool taken = false;
    enum err e = grant_code_taken(tx, building, g, &taken);
    if (!e && taken)
        e = tx_fail(tx, ERR_INVALID_UNLOCK, "access_code is already the code of another enabled passcode");
    return e ? e : take_code(tx, building, g);
}

enum err grant_codes_count(struct tx *tx, const struct id *building, struct grant *g)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(grant_codes_taken, .building_id = building, .now = tx->now_us), &c);
    if (e)
        return e;
    g->codes_left = CODES - row_grant_codes_taken(&c, NULL).taken;
    g->few_codes = g->codes_left < GRANT_CODES_FEW;
    return ERR_NONE;
}

static void write_code(uint32_t number, int digits, char ret[static GRANT_CODE_MAX + 1])
{
    for (int i = digits; i-- > 0; number /= 10)
        ret[i] = (char)('0' + number % 10);
    ret[digits] = '\0';
}

static enum err mark_taken(struct tx *tx, const struct id *building, bool taken[static CODES], uint32_t *ret_free)
{
    CURSOR c;
    bool more;
    uint32_t left = CODES;
    enum err e = db_query(tx->db, SQL(grant_codes, .building_id = building, .now = tx->now_us), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more) {
        uint64_t number;
        const struct row_grant_codes row = row_grant_codes(&c, NULL);
        const struct str code = row.access_code;
        if (code.n != GRANT_CODE_DIGITS || !str_to_u64(code, CODES - 1, &number) || taken[number])
            continue;
        taken[number] = true;
        left--;
    }
    *ret_free = left;
    return e;
}

/* Marks the codes that are not given because they are easily guessed. */
static void mark_easy(bool taken[static CODES], uint32_t *free)
{
    char code[GRANT_CODE_MAX + 1];
    for (uint32_t number = 0; number < CODES; number++) {
        write_code(number, GRANT_CODE_DIGITS, code);
        if (taken[number] || !grant_code_is_easy(str_z(code)))
            continue;
        taken[number] = true;
        (*free)--;
    }
}

/* Chooses at random one of the free codes that are not easily guessed. */
static enum err pick_free(struct tx *tx, const struct id *building, char ret[static GRANT_CODE_MAX + 1])
{
    bool *taken = arena_array(tx->arena, bool, CODES);
    uint32_t left;
    enum err e = mark_taken(tx, building, taken, &left);
    if (e)
        return e;
    mark_easy(taken, &left);
    if (left == 0)
        return tx_fail(tx, ERR_INVALID_UNLOCK,
                       "every four-digit access_code that is not easily guessed belongs to an enabled passcode");
    uint32_t skip = crypto_uniform(left), number = 0;
    while (taken[number] || skip-- > 0)
        number++;
    write_code(number, GRANT_CODE_DIGITS, ret);
    return ERR_NONE;
}

/* Tries random codes; *ret_taken if all of them are taken or easily guessed. */
static enum err try_codes(struct tx *tx, const struct id *building, struct grant *g, bool is_long, bool *ret_taken)
{
    enum err e = ERR_NONE;
    *ret_taken = true;
    for (int i = 0; i < (is_long ? LONG_TRIES : TRIES) && *ret_taken && !e; i++) {
        write_code(crypto_uniform(is_long ? MILLION : CODES), is_long ? LONG : GRANT_CODE_DIGITS, g->code);
        if (!grant_code_is_easy(str_z(g->code)))
            e = grant_code_taken(tx, building, g, ret_taken);
    }
    return e;
}

enum err grant_code_generate(struct tx *tx, const struct id *building, struct grant *g)
{
    bool taken;
    const int64_t from_us = g->starts_us > tx->now_us ? g->starts_us : tx->now_us;
    const bool is_long = g->pass && !g->voice && g->ends_us - from_us > LONG_US;
    enum err e = try_codes(tx, building, g, is_long, &taken);
    if (!e && taken)
        e = is_long ? tx_fail(tx, ERR_INVALID_UNLOCK, "too many six-digit access_codes belong to enabled passcodes")
                    : pick_free(tx, building, g->code);
    return e ? e : take_code(tx, building, g);
}
