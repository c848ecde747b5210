/* The log's cursor: a list accepts only cursors that were written for it. */
#include <stdlib.h>

#include "base/crypto.h"
#include "domain/activity_cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The first bytes are the position and the filters, the others a cursor. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char master[SHA256_LEN] = {7};
    static const struct id building = {"650000000000000000000001"}, other = {"650000000000000000000002"};
    struct activity_position at = {.id = {"650000000000000000000003"}}, read;
    struct arena arena;
    if (size < 9)
        return 0;
    crypto_set_master(master, NULL);
    arena_init(&arena, NULL, 0);
    memcpy(&at.created_us, data, 8);
    const size_t q = data[8] < size - 9 ? data[8] : size - 9;
    const struct activity_filter filter = {.q = v_str(str_n((const char *)data + 9, q)), .succeeded = v_bool(q & 1)};
    const struct str rest = str_n((const char *)data + 9 + q, size - 9 - q);
    const struct str text = activity_cursor_write(&arena, &at, &building, &filter);
    must(activity_cursor_read(&arena, text, &building, &filter, &read));
    must(read.created_us == at.created_us && strcmp(read.id.text, at.id.text) == 0);
    must(!activity_cursor_read(&arena, text, &other, &filter, &read));
    must(!activity_cursor_read(&arena, text, &building, &(struct activity_filter){.q = filter.q}, &read));
    /* An accepted cursor was written before, maybe in an earlier run of the same corpus. */
    if (activity_cursor_read(&arena, rest, &building, &filter, &read))
        must(str_eq(activity_cursor_write(&arena, &read, &building, &filter), rest));
    arena_done(&arena);
    return 0;
}
