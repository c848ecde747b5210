/* The keys of a browser: any two texts, separated by a newline. A message can be encrypted for accepted ones. */
#include <stdlib.h>

#include "base/webpush.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct webpush_receiver to;
    struct str auth;
    unsigned char body[WEBPUSH_BODY_LEN(2)];
    const struct str p256dh = str_cut(str_n((const char *)data, size), '\n', &auth);
    if (webpush_receiver_parse(p256dh, auth, &to) && !webpush_encrypt(&to, STR("{}"), body))
        abort();
    return 0;
}
