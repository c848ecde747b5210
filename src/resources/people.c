#include "resources/routes.h"

#include "domain/grant_made.h"
#include "domain/member.h"
#include "resources/language.h"

#define TAG "People"

/* ---- bodies ---- */

struct person_body {
    struct val id, name, email, role, language, phone, created_at, invited_until;
};
#define ROLE_DOC               "resident: sees the door, answers and opens it, and makes codes; manager: makes codes"
#define OUT(member, type, ...) FIELD(struct person_body, member, type, __VA_ARGS__)
static const struct field person_fields[] = {
    OUT(id, T_ID, .flags = F_REQUIRED),
    OUT(name, T_STRING, .flags = F_REQUIRED),
    OUT(email, T_STRING, .flags = F_REQUIRED),
    OUT(role, T_STRING, .flags = F_REQUIRED, .values = member_role_names, .doc = ROLE_DOC),
    OUT(language, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .values = notice_languages),
    OUT(phone, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
        .doc = "the last digits of the verified phone, which rings if the member is a resident"),
    OUT(created_at, T_TIME, .flags = F_REQUIRED),
    OUT(invited_until, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
        .doc = "when an invitation ends that is not accepted; null: the member has signed in"),
};
static const struct shape person_shape = SHAPE(struct person_body, "Member", person_fields);

struct people_body {
    struct val data;
};
static const struct field people_fields[] = {
    FIELD(struct people_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &person_shape, .doc = "oldest first"),
};
static const struct shape people_shape = SHAPE(struct people_body, "MemberList", people_fields);

/* Of an invitation; a change takes two of them. */
struct invitation {
    struct val name, email, role, language;
};
#define NAME(more) FIELD(struct invitation, name, T_STRING, .flags = (more) | F_TRIM | F_NONBLANK, .max = KEY_NAME_MAX)
#define ROLE(more)                                                                                                     \
    FIELD(struct invitation, role, T_STRING, .flags = (more), .values = member_role_names, .doc = ROLE_DOC)
static const struct field invitation_fields[] = {
    NAME(F_REQUIRED),
    FIELD(struct invitation, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email", .max = 254,
          .error = ERR_INVALID_EMAIL),
    ROLE(F_REQUIRED),
    FIELD(struct invitation, language, T_STRING, .values = notice_languages,
          .doc = "of mails; default: that of `Accept-Language`"),
};
static const struct shape invitation_shape = SHAPE(struct invitation, "Invitation", invitation_fields);
static const struct field change_fields[] = {NAME(0), ROLE(0)};
static const struct shape change_shape = SHAPE(struct invitation, "MemberChange", change_fields);

struct remove_query {
    struct val end_grants;
};
static const struct field remove_fields[] = {
    FIELD(struct remove_query, end_grants, T_BOOL, .error = ERR_INVALID_FILTER,
          .doc = "true: also revoke the grants that the member created, up to 1000"),
};
static const struct shape remove_shape = SHAPE(struct remove_query, "RemoveMemberQuery", remove_fields);

struct removed_body {
    struct val id, deleted, grants_left, grants_ended;
};
static const struct field removed_fields[] = {
    FIELD(struct removed_body, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct removed_body, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
    FIELD(struct removed_body, grants_left, T_INT, .flags = F_REQUIRED,
          .doc = "grants that the member created and that still open, or will; counted up to 1001"),
    FIELD(struct removed_body, grants_ended, T_INT, .flags = F_REQUIRED, .doc = "grants that were revoked with it"),
};
static const struct shape removed_shape = SHAPE(struct removed_body, "MemberRemoved", removed_fields);

/* ---- handlers ---- */

static struct val phone_end(struct arena *a, const struct member *m)
{
    return m->phone_verified_us && m->phone.n > 4 ? v_str(arena_printf(a, "...%s", m->phone.p + m->phone.n - 4))
                                                  : v_null();
}

static struct person_body person_body(struct arena *a, const struct member *m)
{
    return (struct person_body){
        .id = v_str(id_str(&m->id)),
        .name = v_str(m->name),
        .email = v_str(m->email),
        .role = v_str(member_role_text(m->role)),
        .language = v_str(m->language),
        .phone = phone_end(a, m),
        .created_at = v_time(m->created_us),
        .invited_until = m->invited_until_us ? v_time(m->invited_until_us) : v_null(),
    };
}

static enum err reply_person(struct request *q, struct reply *p, int status, const struct member *m)
{
    struct member *kept = arena_new(q->tx.arena, struct member);
    *kept = *m;
    const struct person_body body = person_body(q->tx.arena, kept);
    return reply_copy(q, p, status, &person_shape, &body);
}

static enum err list_people(struct request *q, struct reply *p)
{
    const struct member *people;
    size_t count;
    enum err e = member_of_building(&q->tx, &q->building_id, &people, &count);
    if (e)
        return e;
    struct person_body *items = arena_array(q->tx.arena, struct person_body, count + 1);
    for (size_t i = 0; i < count; i++)
        items[i] = person_body(q->tx.arena, &people[i]);
    return reply_copy(q, p, 200, &people_shape, &(struct people_body){.data = v_list(items, count)});
}

static enum member_role role_of(struct val name)
{
    return str_index(name.s, member_role_names) == MEMBER_RESIDENT ? MEMBER_RESIDENT : MEMBER_MANAGER;
}

static enum err invite_person(struct request *q, struct reply *p)
{
    const struct invitation *in = q->body;
    struct member m = {
        .building_id = q->building_id,
        .account_id = q->who.account_id,
        .name = in->name.s,
        .email = in->email.s,
        .role = role_of(in->role),
        .language = v_set(in->language) ? in->language.s : request_language(q),
        .created_us = q->tx.now_us,
    };
    enum err e = member_invite(&q->tx, &m);
    if (e == ERR_RATE_LIMIT_EXCEEDED)
        q->building_id = (struct id){0}; /* as in every answer that limits requests */
    return e ? e : reply_person(q, p, 201, &m);
}

/* The member that the path names. Fails with ERR_NOT_FOUND if the building has no such member. */
static enum err person_named(struct request *q, struct member *ret)
{
    struct member m = {0};
    enum err e = member_get(&q->tx, &q->item_id, &m);
    if (!e && !id_equal(&m.building_id, &q->building_id))
        e = ERR_NOT_FOUND;
    if (!e)
        *ret = m;
    return e;
}

static enum err change_person(struct request *q, struct reply *p)
{
    const struct invitation *in = q->body;
    struct member m = {0};
    if (!v_set(in->name) && !v_set(in->role))
        return tx_fail(&q->tx, ERR_INVALID_MEMBER, "Send name or role.");
    enum err e = person_named(q, &m);
    if (e)
        return e;
    if (v_set(in->name))
        m.name = in->name.s;
    if (v_set(in->role))
        m.role = role_of(in->role);
    e = member_change(&q->tx, &m);
    return e ? e : reply_person(q, p, 200, &m);
}

static enum err remove_person(struct request *q, struct reply *p)
{
    const struct remove_query *query = q->query;
    struct member m = {0};
    struct grants_left grants = {0};
    enum err e = person_named(q, &m);
    if (!e)
        e = member_remove(&q->tx, &m.id);
    if (!e)
        e = grant_made_leave(&q->tx, &m.account_id, &m.id, v_set(query->end_grants) && query->end_grants.b, &grants);
    if (e)
        return e;
    return reply_copy(
        q, p, 200, &removed_shape,
        &(struct removed_body){v_str(id_str(&q->item_id)), v_bool(true), v_int(grants.left), v_int(grants.ended)});
}

/* ---- rows: the owner's alone ---- */

#define ROW    .credential = CRED_WEB_SESSION, .scopes = SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_PATH
#define PEOPLE "/v1/buildings/{buildingId}/people"

static const struct route rows[] = {
    ROUTE("listPeople", GET, PEOPLE, ROW, .run = RUN_READ, .handler = list_people, .reply = &people_shape,
          .flags = ROUTE_SITE_ONLY, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "List the members of a building", .flags = DOC_EXTENSION)),
    ROUTE("invitePerson", POST, PEOPLE, ROW, .body = &invitation_shape, .body_error = ERR_INVALID_MEMBER,
          .run = RUN_WRITE, .handler = invite_person, .reply = &person_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_CREATE_FAILED,
          .doc = ROUTE_DOC(
              TAG, 201, "Invite a person to a building",
              .description = "The person gets an e-mail, and signs in on the website within a week. A building has at "
                             "most 20 members; an account can invite 10 people a day.",
              .body_example = "{\"name\": \"Ana\", \"email\": \"ana@example.com\", \"role\": \"resident\"}",
              .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_MEMBER_EXISTS, ERR_MEMBER_LIMIT))),
    ROUTE("changePerson", PATCH, PEOPLE "/{memberId}", ROW, .body = &change_shape, .body_error = ERR_INVALID_MEMBER,
          .run = RUN_WRITE, .handler = change_person, .reply = &person_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Change the name or the role of a member",
                           .description = "Holds at once for the browsers that the member is signed in with.",
                           .body_example = "{\"role\": \"manager\"}", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_INVALID_ID, ERR_NOT_FOUND))),
    ROUTE("removePerson", DELETE, PEOPLE "/{memberId}", ROW, .query = &remove_shape, .run = RUN_WRITE,
          .handler = remove_person, .reply = &removed_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY,
          .store_error = ERR_DELETE_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Remove a member of a building",
                        .description = "Signs the member out and revokes its keys. Grants that the member created go "
                                       "on opening the door unless `end_grants` is true.",
                        .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_INVALID_ID, ERR_NOT_FOUND))),
};
const struct route_set people_routes = ROUTE_SET(rows);
