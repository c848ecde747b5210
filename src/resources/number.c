#include "resources/number.h"

struct number_body {
    struct val number, country, source, building_id, building, email, held_since;
};
struct numbers_body {
    struct val data;
};

static const char *const countries[] = {"US", "CA", NULL};

static const char *const sources[] = {"pool", "provider", NULL};

static const struct field number_fields[] = {
    FIELD(struct number_body, number, T_STRING, .flags = F_REQUIRED, .doc = "E.164"),
    FIELD(struct number_body, country, T_STRING, .flags = F_REQUIRED, .values = countries),
    FIELD(struct number_body, source, T_STRING, .flags = F_REQUIRED, .values = sources,
          .doc = "the operator's pool or a provider"),
    FIELD(struct number_body, building_id, T_ID, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "building that holds it; null: free"),
    FIELD(struct number_body, building, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "the building's label"),
    FIELD(struct number_body, email, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "e-mail of its account"),
    FIELD(struct number_body, held_since, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape number_shape = SHAPE(struct number_body, "Number", number_fields);

static const struct field list_fields[] = {
    FIELD(struct numbers_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &number_shape),
};
const struct shape number_list_shape = SHAPE(struct numbers_body, "Numbers", list_fields);

enum err number_list_reply(struct request *q, struct reply *p, const struct number *numbers, size_t count)
{
    struct number_body *rows = arena_array(q->tx.arena, struct number_body, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct number *n = &numbers[i];
        rows[i] = (struct number_body){
            .number = v_str(n->number),
            .country = v_str(n->country),
            .source = v_str(str_z(sources[n->pooled ? 0 : 1])),
            .building_id = v_str(id_str(&n->building_id)),
            .building = v_str(n->building_label),
            .email = v_str(n->email),
            .held_since = id_given(&n->building_id) ? v_time(n->held_since_us) : v_null(),
        };
    }
    return reply_copy(q, p, 200, &number_list_shape, &(struct numbers_body){.data = v_list(rows, count)});
}
