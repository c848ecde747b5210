#include "domain/guest_link.h"
#include "api/parts.h"
#include "resources/routes.h"

struct link_input {
    struct val timezone;
};
static const struct field input_fields[] = {
    FIELD(struct link_input, timezone, T_STRING, .flags = F_NONBLANK, .max = 64,
          .doc = "IANA name, e.g. America/New_York: times on the page, if the building has no time zone"),
};
static const struct shape input_shape = SHAPE(struct link_input, "UnlockLinkCreate", input_fields);

struct link_body {
    struct val id, url, expires_at, timezone, created_at;
};
static const struct field link_fields[] = {
    FIELD(struct link_body, id, T_ID, .flags = F_REQUIRED, .doc = "the grant's"),
    FIELD(struct link_body, url, T_STRING, .flags = F_REQUIRED | F_NULLABLE | F_SECRET, .format = "uri",
          .doc = "the link, a secret of the guest; null: there is none"),
    FIELD(struct link_body, expires_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the end of the grant, and so of the link; null: no end, or no link"),
    FIELD(struct link_body, timezone, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "as given"),
    FIELD(struct link_body, created_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape link_shape = SHAPE(struct link_body, "UnlockLink", link_fields);

struct ended_body {
    struct val id, deleted;
};
static const struct field ended_fields[] = {
    FIELD(struct ended_body, id, T_ID, .flags = F_REQUIRED, .doc = "the grant's"),
    FIELD(struct ended_body, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape ended_shape = SHAPE(struct ended_body, "UnlockLinkDeleted", ended_fields);

static struct grant_place link_place(const struct request *q)
{
    return (struct grant_place){
        .building = &q->building_id, .number = q->building_number, .linked = q->building_linked};
}

static enum err reply_link(struct request *q, struct reply *p, int status, const struct guest_link *link)
{
    struct link_body *body = arena_new(q->tx.arena, struct link_body);
    *body = (struct link_body){.id = v_str(id_str(&q->path_id)),
                               .url = v_null(),
                               .expires_at = v_null(),
                               .timezone = v_null(),
                               .created_at = v_null()};
    if (link->token.p) {
        body->url =
            v_str(arena_printf(q->tx.arena, "%s" GUEST_PATH "%.*s", q->parts->public_url, STR_ARG(link->token)));
        body->expires_at = link->ends_us == GRANT_NO_END ? v_null() : v_time(link->ends_us);
        body->timezone = v_str(link->timezone);
        body->created_at = v_time(link->created_us);
    }
    return reply_ok(p, status, &link_shape, body);
}

static enum err create_link(struct request *q, struct reply *p)
{
    const struct grant_place place = link_place(q);
    const struct link_input *input = q->body;
    struct guest_link link;
    bool made;
    enum err e = guest_link_make(&q->tx, &place, &q->path_id, v_set(input->timezone) ? input->timezone.s : STR_NONE,
                                 &link, &made);
    return e ? e : reply_link(q, p, made ? 201 : 200, &link);
}

static enum err get_link(struct request *q, struct reply *p)
{
    const struct grant_place place = link_place(q);
    struct guest_link link;
    enum err e = guest_link_get(&q->tx, &place, &q->path_id, &link);
    return e ? e : reply_link(q, p, 200, &link);
}

static enum err delete_link(struct request *q, struct reply *p)
{
    const struct grant_place place = link_place(q);
    enum err e = guest_link_end(&q->tx, &place, &q->path_id);
    if (e)
        return e;
    return reply_copy(q, p, 200, &ended_shape,
                      &(struct ended_body){.id = v_str(id_str(&q->path_id)), .deleted = v_bool(true)});
}

#define TAG "Access grants"

static const struct route rows[] = {
    ROUTE(
        "createUnlockLink", POST, "/v1/unlock/{id}/link", .credential = CRED_KEY, .people = PEOPLE_ALL,
        .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .body = &input_shape,
        .body_error = ERR_INVALID_UNLOCK, .body_optional = true, .run = RUN_WRITE, .handler = create_link,
        .reply = &link_shape, .flags = ROUTE_SITE, .store_error = ERR_CREATE_FAILED,
        .doc = ROUTE_DOC(
            TAG, 201, "Make a link for the guest of a grant",
            .description =
                "The link leads to a page in the guest's language: the building, the code, how to use the call box, "
                "and until when. The page needs no account, and shows nothing else of yours. Everyone who has the link "
                "can read the code. The link ends when the grant is revoked or the link is deleted, and does not work "
                "while the grant has expired; while the grant is disabled or used up, the page says that it is not "
                "valid now. The same link is returned while it lives.",
            .body_example = "{\"timezone\": \"America/New_York\"}", .other_status = 200, .flags = DOC_EXTENSION,
            .errors = ROUTE_ERRORS(ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND, ERR_GRANT_REVOKED, ERR_GRANT_EXPIRED))),
    ROUTE("getUnlockLink", GET, "/v1/unlock/{id}/link", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_READ,
          .handler = get_link, .reply = &link_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Read the link of a grant",
                           .description = "`url` is null if there is none that works.", .flags = DOC_EXTENSION,
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("deleteUnlockLink", DELETE, "/v1/unlock/{id}/link", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_WRITE,
          .handler = delete_link, .reply = &ended_shape, .flags = ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "End the link of a grant; can be repeated",
                        .description = "The grant itself, and its code, stay as they are. A later link is another one.",
                        .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};

const struct route_set guest_link_routes = ROUTE_SET(rows);
