#include "resources/routes.h"

#include "domain/building.h"
#include "resources/address.h"

struct building_item {
    struct val id, label, address, virtual_number, is_primary, provisioned, timezone;
};
static const struct field building_item_fields[] = {
    FIELD(struct building_item, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct building_item, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct building_item, address, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &address_shape),
    FIELD(struct building_item, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct building_item, is_primary, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct building_item, provisioned, T_BOOL, .flags = F_REQUIRED,
          .doc = "true if the building has a virtual number"),
    FIELD(struct building_item, timezone, T_STRING, .flags = F_NULLABLE,
          .doc = "IANA name, as in the settings (extension)"),
};
static const struct shape building_item_shape = SHAPE(struct building_item, "Building", building_item_fields);

struct buildings {
    struct val data, selection_required, next_action;
};
static const struct field buildings_fields[] = {
    FIELD(struct buildings, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &building_item_shape,
          .doc = "oldest first; a key bound to one building sees only that building"),
    FIELD(struct buildings, selection_required, T_BOOL, .flags = F_REQUIRED,
          .doc = "true if requests must name a building in X-Service-Building-Id"),
    FIELD(struct buildings, next_action, T_STRING, .flags = F_REQUIRED),
};
static const struct shape buildings_shape = SHAPE(struct buildings, "Buildings", buildings_fields);

static struct val building_address_of(struct arena *a, const struct building *b)
{
    const struct building_address address = {b->street, b->city, b->state, b->zip, b->country};
    return b->has_address ? address_val(a, &address) : v_null();
}

static struct building_item building_item(struct arena *a, const struct building *b)
{
    return (struct building_item){
        .id = v_str(id_str(&b->id)),
        .label = v_str(b->label),
        .address = building_address_of(a, b),
        .virtual_number = v_str(b->number),
        .is_primary = v_bool(b->primary),
        .provisioned = v_bool(b->number.p != NULL),
        .timezone = v_str(b->timezone),
    };
}

static bool visible(const struct principal *who, const struct building *b)
{
    return !id_given(&who->building_id) || id_equal(&who->building_id, &b->id);
}

static struct str buildings_next_action(bool selection_required, const struct building_item *first)
{
    if (selection_required)
        return STR("Send the id of a building as X-Service-Building-Id with every request for that building.");
    if (first && !first->provisioned.b)
        return STR("The subscription provides the virtual number: POST /v1/billing/checkout, then check this list for "
                   "the number.");
    return STR("See GET /v1/buildings/{buildingId}/setup for the remaining setup steps.");
}

static enum err get_buildings(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    const struct building *buildings;
    size_t count, shown = 0;
    enum err e = building_list(&q->tx, &q->who.account_id, &buildings, &count);
    if (e)
        return e;
    struct building_item *items = arena_array(a, struct building_item, count);
    for (size_t i = 0; i < count; i++)
        if (visible(&q->who, &buildings[i]))
            items[shown++] = building_item(a, &buildings[i]);
    bool selection_required = !id_given(&q->who.building_id) && shown > 1;
    struct buildings *r = arena_new(a, struct buildings);
    r->data = v_list(items, shown);
    r->selection_required = v_bool(selection_required);
    r->next_action = v_str(buildings_next_action(selection_required, shown ? items : NULL));
    return reply_ok(p, 200, &buildings_shape, r);
}

static const struct route rows[] = {
    ROUTE("listBuildings", GET, "/v1/buildings", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .run = RUN_READ, .handler = get_buildings,
          .reply = &buildings_shape, .flags = ROUTE_SITE, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC("Buildings", 200, "List the buildings visible to the key",
                           .description = "All buildings in one response, by creation time. A key bound to one "
                                          "building sees only that building.")),
};
const struct route_set building_routes = ROUTE_SET(rows);
