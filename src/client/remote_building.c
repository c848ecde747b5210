#include "client/remote_building.h"

#include "base/json.h"
#include "client/complain.h"
#include "client/operation_answer.h"

#define LISTED_MAX 50

static int read_buildings(struct str body, struct arena *a, size_t max, struct remote_building *ret, size_t *ret_count)
{
    json_t *page = NULL, *row;
    size_t i, n = 0;
    if (json_read(body, &page)) {
        complain("the service responded without JSON");
        return EXIT_FAILED;
    }
    json_array_foreach (json_object_get(page, "data"), i, row) {
        struct remote_building b = {.label = arena_str(a, str_z(json_string_value(json_object_get(row, "label"))))};
        const char *id = json_string_value(json_object_get(row, "id"));
        if (n < max && id && id_parse(str_z(id), &b.id))
            ret[n++] = b;
    }
    json_decref(page);
    *ret_count = n;
    return EXIT_DONE;
}

int remote_buildings(const struct remote *r, struct arena *a, size_t max, struct remote_building *ret,
                     size_t *ret_count)
{
    const struct remote_call call = {.method = "GET", .path = "/v1/buildings", .repeatable = true};
    struct remote_answer answer;
    const int status = remote_send(r, &call, a, &answer);
    if (status)
        return status;
    return answer.status == 200 ? read_buildings(answer.body, a, max, ret, ret_count)
                                : operation_print_error(r, &answer, false);
}

int remote_only_building(const struct remote *r, struct arena *a, struct id *ret)
{
    struct remote_building list[LISTED_MAX];
    size_t count = 0;
    const int status = remote_buildings(r, a, LISTED_MAX, list, &count);
    if (status)
        return status;
    if (count == 1) {
        *ret = list[0].id;
        return EXIT_DONE;
    }
    complain("the account has %s buildings; name one:", count ? "several" : "no");
    for (size_t i = 0; i < count; i++)
        complain("  %s  %.*s", list[i].id.text, STR_ARG(list[i].label));
    return EXIT_USAGE;
}
