#include "api/openapi_parameters.h"

#include <assert.h>

#define ID(text) .name = (text), .type = T_ID
#define ID_DOC   .flags = F_REQUIRED, .doc = "an ID that this API returned, in either case"

/* Parameters of paths, by the name in the row. */
static const struct {
    const char *name;
    enum parameter_kind kind;
    struct field field;
} path_parameters[] = {
    {"id", PARAMETER_ID, {ID("id"), ID_DOC}},
    {"text", PARAMETER_TEXT, {.name = "id", .type = T_STRING, .flags = F_REQUIRED, .doc = "as this API returned it"}},
    {"buildingId", PARAMETER_ID, {ID("buildingId"), ID_DOC}},
    {"delivery_id", PARAMETER_ID, {ID("delivery_id"), ID_DOC}},
    {"memberId", PARAMETER_ID, {ID("memberId"), ID_DOC}},
    {"listenerId", PARAMETER_ID, {ID("listenerId"), ID_DOC}},
    {"recordingId", PARAMETER_ID, {ID("recordingId"), ID_DOC}},
};

static const struct field building_header = {ID("X-Service-Building-Id"),
                                             .doc = "required when the account has linked buildings"},
                          building_again = {ID("X-Service-Building-Id"), .doc = "if sent, must agree with the path"};

#define KEY(more)                                                                                                      \
    {                                                                                                                  \
        .name = "Idempotency-Key", .type = T_STRING, .flags = (more), .pattern = "^[a-zA-Z0-9_-]{16,100}$",            \
        .doc = "identifies this request: the same key and body replay its result"                                      \
    }
static const struct field idempotency_keys[] = {[NEED_OPTIONAL] = KEY(0), [NEED_REQUIRED] = KEY(F_REQUIRED)};

#define VERSION(of, digits)                                                                                            \
    {                                                                                                                  \
        .name = "If-Match", .type = T_STRING, .flags = F_REQUIRED, .pattern = "^(W/)?\"" digits "\"$",                 \
        .doc = of " ETag"                                                                                              \
    }
static const struct field grant_version = VERSION("the grant's", "[0-9]+"),
                          settings_version = VERSION("the settings'", "[a-fA-F0-9]{64}");

struct parameter_list {
    struct parameter *all;
    size_t count;
};

static void add_parameter(struct parameter_list *list, enum parameter_kind kind, const char *in,
                          const struct field *field)
{
    assert(list->count < PARAMETERS_MAX);
    list->all[list->count++] = (struct parameter){kind, in, field};
}

static void add_path_parameter(struct parameter_list *list, struct str name)
{
    for (size_t i = 0; i < sizeof path_parameters / sizeof *path_parameters; i++) {
        const char *known = path_parameters[i].name;
        if (strncmp(name.p, known, name.n) == 0 && known[name.n] == '\0') {
            add_parameter(list, path_parameters[i].kind, "path", &path_parameters[i].field);
            return;
        }
    }
    assert(false); /* it has no row in path_parameters */
}

static void add_path_parameters(struct parameter_list *list, const char *path)
{
    struct str rest = str_z(path);
    while (str_cut(rest, '{', &rest).p && rest.p)
        add_path_parameter(list, str_cut(rest, '}', &rest));
}

size_t openapi_parameters(const struct route *route, struct parameter ret[static PARAMETERS_MAX])
{
    struct parameter_list list = {ret, 0};
    add_path_parameters(&list, route->path);
    for (size_t i = 0; route->query && i < route->query->field_count; i++)
        add_parameter(&list, PARAMETER_QUERY, "query", &route->query->fields[i]);
    if (route->building == BUILDING_HEADER)
        add_parameter(&list, PARAMETER_BUILDING, "header", &building_header);
    if (route->building == BUILDING_PATH)
        add_parameter(&list, PARAMETER_BUILDING, "header", &building_again);
    if (route->idempotency != NEED_NOT)
        add_parameter(&list, PARAMETER_KEY, "header", &idempotency_keys[route->idempotency]);
    if (route->match == MATCH_GRANT)
        add_parameter(&list, PARAMETER_GRANT_VERSION, "header", &grant_version);
    if (route->match == MATCH_SETTINGS)
        add_parameter(&list, PARAMETER_SETTINGS_VERSION, "header", &settings_version);
    return list.count;
}
