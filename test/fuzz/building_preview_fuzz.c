/* A BuildingPreview, any bytes: accepted values keep the rules of the contract (Buildings) and have the stored form; a
 * refusal has a reason. */
#include <ctype.h>
#include <stdlib.h>

#include "resources/operation_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool all(struct str s, int (*is)(int))
{
    for (size_t i = 0; i < s.n; i++)
        if (!is((unsigned char)s.p[i]))
            return false;
    return true;
}

static void check_zip(const struct building_address *a)
{
    struct str tail, head = str_cut(a->zip, str_eq(a->country, STR("CA")) ? ' ' : '-', &tail);
    if (str_eq(a->country, STR("US"))) {
        must(head.n == 5 && all(head, isdigit) && (!tail.p || (tail.n == 4 && all(tail, isdigit))));
        return;
    }
    must(str_eq(a->country, STR("CA")) && head.n == 3 && tail.n == 3);
    must(isupper(head.p[0]) && isdigit(head.p[1]) && isupper(head.p[2]));
    must(isdigit(tail.p[0]) && isupper(tail.p[1]) && isdigit(tail.p[2]));
}

static void check_addition(const struct operation_input *in)
{
    const struct building_address *a = &in->address;
    must(in->label.n > 0 && in->label.n <= 4 * 120);
    must(a->city.n > 0 && a->city.n <= 4 * 120 && (!a->street.p || (a->street.n > 0 && a->street.n <= 4 * 200)));
    must(a->state.n == 2 && all(a->state, isupper));
    check_zip(a);
    must(in->unlock_tone.n >= 1 && in->unlock_tone.n <= 3 &&
         strspn(in->unlock_tone.p, "0123456789#*") == in->unlock_tone.n);
    must(!in->phone_number.p || (in->phone_number.p[0] == '+' && all(str_from(in->phone_number, 1), isdigit)));
}

static void run(const json_t *json, struct arena *a)
{
    struct schema_fault fault = {ERR_NONE, STR_NONE};
    struct tx tx = {.arena = a};
    struct operation_input in;
    void *body = arena_zalloc(a, building_preview_shape.size);
    if (!schema_read(&building_preview_shape, json, ERR_INVALID_BUILDING_INPUT, a, body, &fault)) {
        must(fault.message.n > 0);
        must(fault.error == ERR_INVALID_BUILDING_INPUT || fault.error == ERR_INVALID_PHONE_NUMBER);
        return;
    }
    enum err e = building_preview_input(&tx, body, &in);
    if (e)
        must(e == ERR_INVALID_BUILDING_INPUT && str_starts(tx.why, STR("address.")));
    else if (in.action == OPERATION_ADD)
        check_addition(&in);
    else
        must(id_given(&in.building_id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = NULL;
    struct arena a;
    arena_init(&a, NULL, 0);
    if (!json_read(str_n((const char *)data, size), &json) && json_is_object(json))
        run(json, &a);
    json_decref(json);
    arena_done(&a);
    return 0;
}
