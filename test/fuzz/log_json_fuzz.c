/* A log message, any bytes: the record is one line and one JSON object, without a member twice. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[2000], line[4096];
    const size_t n = size < sizeof message ? size : sizeof message - 1;
    memcpy(message, data, n);
    message[n] = '\0';
    const size_t room = n % 2 ? 256 : sizeof line; /* some records do not fit */
    const size_t used = log_json(line, room, n % 3 ? "2026-11-22T10:00:00.000Z" : NULL, "info", message);
    if (used > room || line[used - 1] != '\n' || memchr(line, '\n', used - 1))
        abort();
    json_t *o = json_loadb(line, used - 1, JSON_REJECT_DUPLICATES, NULL);
    if (!o || !json_is_string(json_object_get(o, "message")))
        abort();
    json_decref(o);
    return 0;
}
