/* The steps of a call's record, any bytes: what is read is a step, and is read again as it was written. */
#include <stdlib.h>

#include "domain/call_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_again(const struct call_step *step)
{
    char line[CALL_STEP_LINE_MAX];
    struct call_step again;
    const size_t n = call_step_write(step, line);
    must(n < sizeof line && line[n - 1] == '\n');
    struct str text = str_n(line, n);
    must(call_step_read(&text, &again) && text.n == 0);
    must(again.at_ms == step->at_ms && again.kind == step->kind);
    must(again.text.n <= CALL_STEP_WORD_MAX && again.ref.n <= CALL_STEP_WORD_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str steps = str_n((const char *)data, size);
    struct call_step step;
    while (call_step_read(&steps, &step)) {
        must(step.at_ms >= 0 && step.kind <= CALL_STEP_ENDED);
        check_again(&step);
    }
    must(steps.n == 0);
    return 0;
}
