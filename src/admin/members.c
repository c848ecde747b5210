/* Members of buildings (ACCOUNT-8). */
#include "admin/routes.h"

#include "base/forms.h"
#include "domain/grant_made.h"
#include "domain/member.h"

struct member_body {
    struct val building_id, name, email, phone, role;
};
struct member_reply {
    struct val id, building_id, building, name, email, phone, role, created_at;
};
struct members_query {
    struct val building_id;
};
struct members_reply {
    struct val data;
};
struct remove_query {
    struct val end_grants;
};
struct removed_reply {
    struct val id, deleted, grants_left, grants_ended;
};

static const struct field body_fields[] = {
    FIELD(struct member_body, building_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_BUILDING),
    FIELD(struct member_body, name, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = 120),
    FIELD(struct member_body, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email", .max = 254,
          .error = ERR_INVALID_EMAIL),
    FIELD(struct member_body, phone, T_STRING, PHONE_FORM, .error = ERR_INVALID_PHONE_NUMBER),
    FIELD(struct member_body, role, T_STRING, .values = member_role_names, .doc = "default: resident"),
};
static const struct shape body_shape = SHAPE(struct member_body, "AdminMemberAdd", body_fields);

static const struct field member_fields[] = {
    FIELD(struct member_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct member_reply, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct member_reply, building, T_STRING, .doc = "label of the building"),
    FIELD(struct member_reply, name, T_STRING, .flags = F_REQUIRED),
    FIELD(struct member_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct member_reply, phone, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct member_reply, role, T_STRING, .flags = F_REQUIRED, .values = member_role_names),
    FIELD(struct member_reply, created_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape member_shape = SHAPE(struct member_reply, "AdminMember", member_fields);

static const struct field query_fields[] = {
    FIELD(struct members_query, building_id, T_ID, .error = ERR_INVALID_BUILDING),
};
static const struct shape query_shape = SHAPE(struct members_query, "AdminMembersQuery", query_fields);
static const struct field members_fields[] = {
    FIELD(struct members_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &member_shape),
};
static const struct shape members_shape = SHAPE(struct members_reply, "AdminMembers", members_fields);

static const struct field removed_fields[] = {
    FIELD(struct removed_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct removed_reply, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
    FIELD(struct removed_reply, grants_left, T_INT, .flags = F_REQUIRED, .doc = "grants of the member that still open"),
    FIELD(struct removed_reply, grants_ended, T_INT, .flags = F_REQUIRED),
};
static const struct field remove_fields[] = {
    FIELD(struct remove_query, end_grants, T_BOOL, .error = ERR_BAD_REQUEST),
};
static const struct shape remove_shape = SHAPE(struct remove_query, "AdminMemberRemove", remove_fields);
static const struct shape removed_shape = SHAPE(struct removed_reply, "AdminMemberRemoved", removed_fields);

static enum err add_member(struct request *q, struct reply *p)
{
    const struct member_body *body = q->body;
    const struct id building = admin_id(body->building_id);
    struct id *id = arena_new(q->tx.arena, struct id);
    q->subject = arena_printf(q->tx.arena, "building=%s", building.text);
    const int role = v_set(body->role) ? str_index(body->role.s, member_role_names) : MEMBER_RESIDENT;
    const struct member new = {
        .building_id = building,
        .name = body->name.s,
        .email = body->email.s,
        .phone = v_set(body->phone) ? body->phone.s : STR_NONE,
        .role = (enum member_role)role,
    };
    enum err e = member_create(&q->tx, &new, id);
    if (e)
        return e;
    q->subject = arena_printf(q->tx.arena, "building=%s member=%s", building.text, id->text);
    return reply_copy(q, p, 201, &member_shape,
                      &(struct member_reply){
                          .id = admin_id_val(id),
                          .building_id = body->building_id,
                          .name = body->name,
                          .email = body->email,
                          .phone = v_set(body->phone) ? body->phone : v_null(),
                          .role = v_str(str_z(member_role_names[role])),
                          .created_at = v_time(q->tx.now_us),
                      });
}

static enum err list_members(struct request *q, struct reply *p)
{
    const struct members_query *query = q->query;
    const struct id wanted = admin_id(query->building_id);
    const struct member *members;
    size_t count, n = 0;
    if (id_given(&wanted))
        q->subject = arena_printf(q->tx.arena, "building=%s", wanted.text);
    enum err e = member_list(&q->tx, &members, &count);
    if (e)
        return e;
    struct member_reply *rows = arena_array(q->tx.arena, struct member_reply, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct member *m = &members[i];
        if (id_given(&wanted) && !id_equal(&wanted, &m->building_id))
            continue;
        rows[n++] = (struct member_reply){
            .id = admin_id_val(&m->id),
            .building_id = admin_id_val(&m->building_id),
            .building = v_str(m->building_label),
            .name = v_str(m->name),
            .email = v_str(m->email),
            .phone = v_str(m->phone),
            .role = v_str(member_role_text(m->role)),
            .created_at = v_time(m->created_us),
        };
    }
    return reply_copy(q, p, 200, &members_shape, &(struct members_reply){.data = v_list(rows, n)});
}

static enum err remove_member(struct request *q, struct reply *p)
{
    q->subject = arena_printf(q->tx.arena, "member=%s", q->path_id.text);
    const struct remove_query *query = q->query;
    struct member member = {0};
    struct grants_left grants = {0};
    enum err e = member_get(&q->tx, &q->path_id, &member);
    if (!e)
        e = member_remove(&q->tx, &q->path_id);
    if (!e)
        e = grant_made_leave(&q->tx, &member.account_id, &member.id, v_set(query->end_grants) && query->end_grants.b,
                             &grants);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "member not found") : e;
    return reply_copy(
        q, p, 200, &removed_shape,
        &(struct removed_reply){admin_id_val(&q->path_id), v_bool(true), v_int(grants.left), v_int(grants.ended)});
}

static const struct route rows[] = {
    ROUTE("adminAddMember", POST, "/admin/members", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = add_member, .reply = &member_shape,
          .doc = ROUTE_DOC("Members", 201, "Add a member to a building")),
    ROUTE("adminListMembers", GET, "/admin/members", .credential = CRED_CONTROL, .personal = true,
          .query = &query_shape, .run = RUN_READ, .handler = list_members, .reply = &members_shape,
          .doc = ROUTE_DOC("Members", 200, "List the members of a building, or all members")),
    ROUTE("adminRemoveMember", DELETE, "/admin/members/{id}", .credential = CRED_CONTROL, .query = &remove_shape,
          .run = RUN_WRITE, .handler = remove_member, .reply = &removed_shape,
          .doc = ROUTE_DOC("Members", 200, "Remove a member and revoke its keys")),
};
const struct route_set admin_member_routes = ROUTE_SET(rows);
