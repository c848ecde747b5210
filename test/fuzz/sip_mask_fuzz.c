/* The mask of traced messages: no input may leave a secret behind that stands in its plain form. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sip/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char *text = malloc(n + 1), *again = malloc(n + 1);
    if (text && again) {
        memcpy(text, p, n);
        sip_mask(text, n);
        for (size_t i = 0; i < n; i++)
            assert(text[i] == '\r' || text[i] == '\n' || text[i] == '\t' || (unsigned char)text[i] >= ' ');
        memcpy(again, text, n);
        sip_mask(again, n); /* masked text stays the same */
        assert(memcmp(again, text, n) == 0);
    }
    free(text);
    free(again);
    return 0;
}
