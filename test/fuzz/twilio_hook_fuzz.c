/* A target and a body, any bytes, as a request of Twilio: a form reads back as it was written, and nothing is accepted
 * without its signature. */
#include <stdlib.h>

#include "providers/twilio_hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct config config = {.twilio_account_sid = "AC0123456789abcdef0123456789abcdef",
                                     .twilio_auth_token = "token"};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_form(struct str body, struct arena *a)
{
    struct form f, again;
    struct buf b = BUF(1 << 20);
    if (!form_read(body, TWILIO_FIELDS_MAX, a, &f))
        return;
    must(f.count <= TWILIO_FIELDS_MAX);
    for (size_t i = 0; i < f.count; i++) {
        must(f.fields[i].name.n > 0 && !memchr(f.fields[i].value.p, '\0', f.fields[i].value.n));
        const struct str parts[] = {f.fields[i].name, f.fields[i].value};
        for (size_t part = 0; part < 2; part++) {
            for (size_t at = 0; at < parts[part].n; at++)
                buf_printf(&b, "%%%02x", (unsigned char)parts[part].p[at]);
            buf_char(&b, part ? '&' : '=');
        }
    }
    const struct str text = buf_view(&b);
    must(form_read(str_n(text.p, text.n ? text.n - 1 : 0), TWILIO_FIELDS_MAX, a, &again) && again.count == f.count);
    for (size_t i = 0; i < f.count; i++)
        must(str_eq(f.fields[i].name, again.fields[i].name) && str_eq(f.fields[i].value, again.fields[i].value));
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct form f;
    struct twilio_hook *hook;
    char *why;
    struct str body, target = str_cut(str_n((const char *)data, size), '\n', &body);
    arena_init(&a, NULL, 0);
    must(!twilio_hook_new(&config, &hook, &why));
    check_form(body, &a);
    must(!twilio_hook_read(
        hook,
        &(struct twilio_posted){STR("https://door.example:8443"), target, STR("AAAAAAAAAAAAAAAAAAAAAAAAAAA="), body},
        &a, &f));
    twilio_hook_free(hook);
    arena_done(&a);
    return 0;
}
