/* Call boxes that sign in (PHONE-4). */
#include "admin/routes.h"
#include "base/forms.h"
#include "domain/box.h"

struct box_body {
    struct val name, number;
};
struct box_made {
    struct val name, number, password;
};
struct box_item {
    struct val name, number, created_at, registered_until, registered_from;
};
struct box_items {
    struct val data;
};
struct box_query {
    struct val name;
};
struct box_removed {
    struct val name, deleted;
};

#define BOX_NAME(ctype, ...) FIELD(ctype, name, T_STRING, .flags = F_REQUIRED, __VA_ARGS__)

static const struct field body_fields[] = {
    BOX_NAME(struct box_body, BOX_FORM, .doc = "user name of its digest"),
    FIELD(struct box_body, number, T_STRING, PHONE_FORM, .error = ERR_INVALID_PHONE_NUMBER,
          .doc = "its calls come from this number; default: the number that it sends"),
};
static const struct shape body_shape = SHAPE(struct box_body, "AdminBox", body_fields);

static const struct field made_fields[] = {
    BOX_NAME(struct box_made),
    FIELD(struct box_made, number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct box_made, password, T_STRING, .flags = F_REQUIRED | F_SECRET, .doc = "shown once"),
};
static const struct shape made_shape = SHAPE(struct box_made, "AdminBoxMade", made_fields);

static const struct field item_fields[] = {
    BOX_NAME(struct box_item),
    FIELD(struct box_item, number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct box_item, created_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct box_item, registered_until, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct box_item, registered_from, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape item_shape = SHAPE(struct box_item, "AdminBoxItem", item_fields);
static const struct field items_fields[] = {
    FIELD(struct box_items, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &item_shape),
};
static const struct shape items_shape = SHAPE(struct box_items, "AdminBoxes", items_fields);

static const struct field query_fields[] = {BOX_NAME(struct box_query)};
static const struct shape query_shape = SHAPE(struct box_query, "AdminBoxQuery", query_fields);

static const struct field removed_fields[] = {
    BOX_NAME(struct box_removed),
    FIELD(struct box_removed, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape removed_shape = SHAPE(struct box_removed, "AdminBoxRemoved", removed_fields);

static enum err add_box(struct request *q, struct reply *p)
{
    const struct box_body *body = q->body;
    struct box_made *made = arena_new(q->tx.arena, struct box_made);
    struct str password, number = v_set(body->number) ? body->number.s : STR_NONE;
    q->subject = arena_printf(q->tx.arena, "box=%.*s", STR_ARG(body->name.s));
    enum err e = box_add(&q->tx, body->name.s, number, &password);
    if (e)
        return e;
    *made = (struct box_made){body->name, v_str(number), v_str(password)};
    return reply_ok(p, 201, &made_shape, made);
}

static enum err list_boxes(struct request *q, struct reply *p)
{
    const struct box *boxes;
    size_t count;
    enum err e = box_list(&q->tx, &boxes, &count);
    if (e)
        return e;
    struct box_items *body = arena_new(q->tx.arena, struct box_items);
    struct box_item *items = arena_array(q->tx.arena, struct box_item, count + 1);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct box_item){
            .name = v_str(boxes[i].name),
            .number = v_str(boxes[i].number),
            .created_at = v_time(boxes[i].created_us),
            .registered_until = v_time_or_null(boxes[i].registered_until_us),
            .registered_from = v_str(boxes[i].registered_from),
        };
    body->data = v_list(items, count);
    return reply_ok(p, 200, &items_shape, body);
}

static enum err remove_box(struct request *q, struct reply *p)
{
    const struct box_query *query = q->query;
    struct box_removed *body = arena_new(q->tx.arena, struct box_removed);
    if (!v_set(query->name))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "name is required");
    q->subject = arena_printf(q->tx.arena, "box=%.*s", STR_ARG(query->name.s));
    enum err e = box_remove(&q->tx, query->name.s);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "no box has this name") : e;
    *body = (struct box_removed){query->name, v_bool(true)};
    return reply_ok(p, 200, &removed_shape, body);
}

static const struct route rows[] = {
    ROUTE("adminAddBox", POST, "/admin/boxes", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = add_box, .reply = &made_shape,
          .doc = ROUTE_DOC("Boxes", 201, "Make a call box that signs in")),
    ROUTE("adminListBoxes", GET, "/admin/boxes", .credential = CRED_CONTROL, .run = RUN_READ, .handler = list_boxes,
          .reply = &items_shape, .doc = ROUTE_DOC("Boxes", 200, "List the call boxes that sign in")),
    ROUTE("adminRemoveBox", DELETE, "/admin/boxes", .credential = CRED_CONTROL, .query = &query_shape, .run = RUN_WRITE,
          .handler = remove_box, .reply = &removed_shape, .doc = ROUTE_DOC("Boxes", 200, "Remove a call box")),
};
const struct route_set admin_box_routes = ROUTE_SET(rows);
