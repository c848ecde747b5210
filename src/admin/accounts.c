/* An account and its buildings, and its end. */
#include "admin/routes.h"
#include "api/parts.h"
#include "billing/erasure.h"
#include "domain/account.h"
#include "domain/building.h"
#include "jobs/queue.h"

struct account_query {
    struct val email;
};
struct building_reply {
    struct val id, label, is_primary, virtual_number, unlock_tone;
};
struct account_reply {
    struct val id, email, created_at, plan, subscription, phone, revision, buildings;
};

static const struct field query_fields[] = {
    FIELD(struct account_query, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .max = 254,
          .error = ERR_INVALID_EMAIL),
};
static const struct shape query_shape = SHAPE(struct account_query, "AdminAccountQuery", query_fields);

static const struct field building_fields[] = {
    FIELD(struct building_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct building_reply, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct building_reply, is_primary, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct building_reply, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct building_reply, unlock_tone, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape building_shape = SHAPE(struct building_reply, "AdminBuilding", building_fields);
static const char *const revisions[] = {"current", "earlier", NULL};
static const struct field account_fields[] = {
    FIELD(struct account_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct account_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct account_reply, created_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct account_reply, plan, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct account_reply, subscription, T_STRING, .flags = F_REQUIRED),
    FIELD(struct account_reply, phone, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct account_reply, revision, T_STRING, .flags = F_REQUIRED, .values = revisions,
          .doc = "of the interface, for its keys"),
    FIELD(struct account_reply, buildings, T_OBJECTS, .flags = F_REQUIRED, .sub = &building_shape),
};
static const struct shape account_shape = SHAPE(struct account_reply, "AdminAccount", account_fields);

static struct val building_rows(struct arena *a, const struct building *buildings, size_t count)
{
    struct building_reply *list = arena_array(a, struct building_reply, count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct building_reply){
            .id = admin_id_val(&buildings[i].id),
            .label = v_str(buildings[i].label),
            .is_primary = v_bool(buildings[i].primary),
            .virtual_number = v_str(buildings[i].number),
            .unlock_tone = v_str(buildings[i].unlock_tone),
        };
    return v_list(list, count);
}

static enum err show_account(struct request *q, struct reply *p)
{
    const struct account_query *query = q->query;
    struct account *account = arena_new(q->tx.arena, struct account);
    const struct building *buildings;
    struct id id;
    size_t count;
    if (!v_set(query->email))
        return tx_fail(&q->tx, ERR_INVALID_EMAIL, "email is required");
    enum err e = admin_account(&q->tx, query->email.s, &id);
    if (!e)
        q->subject = arena_printf(q->tx.arena, "account=%s", id.text);
    if (!e)
        e = account_get(&q->tx, &id, account);
    if (!e)
        e = building_list(&q->tx, &id, &buildings, &count);
    if (e)
        return e;
    return reply_copy(q, p, 200, &account_shape,
                      &(struct account_reply){
                          .id = admin_id_val(&account->id),
                          .email = v_str(account->email),
                          .created_at = v_time(account->created_us),
                          .plan = v_str(account->plan),
                          .subscription = v_str(str_z(subscription_status_text(account->status))),
                          .phone = v_str(account->phone),
                          .revision = v_str(str_z(revisions[account->earlier_revision])),
                          .buildings = building_rows(q->tx.arena, buildings, count),
                      });
}

/* ---- the accounts ---- */

#define ADD_MAX  100
#define LIST_MAX 1000

struct add_body {
    struct val emails;
};
struct added_row {
    struct val email, id;
};
struct added_reply {
    struct val data;
};
struct list_query {
    struct val after;
};
struct row_reply {
    struct val email, id, created_at, virtual_number, signed_in;
};
struct rows_reply {
    struct val data;
};

static const struct field add_fields[] = {
    FIELD(struct add_body, emails, T_STRINGS, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email", .min = 1,
          .max = ADD_MAX, .error = ERR_INVALID_EMAIL),
};
static const struct shape add_shape = SHAPE(struct add_body, "AdminAccountsAdd", add_fields);

static const struct field added_row_fields[] = {
    FIELD(struct added_row, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct added_row, id, T_ID, .flags = F_REQUIRED),
};
static const struct shape added_row_shape = SHAPE(struct added_row, "AdminAccountAdded", added_row_fields);
static const struct field added_fields[] = {
    FIELD(struct added_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &added_row_shape),
};
static const struct shape added_shape = SHAPE(struct added_reply, "AdminAccountsAdded", added_fields);

static const struct field list_query_fields[] = {
    FIELD(struct list_query, after, T_STRING, .flags = F_TRIM | F_LOWER, .max = 254,
          .doc = "the last address of the list before"),
};
static const struct shape list_query_shape = SHAPE(struct list_query, "AdminAccountsQuery", list_query_fields);

static const struct field row_fields[] = {
    FIELD(struct row_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct row_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct row_reply, created_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct row_reply, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "of its first building"),
    FIELD(struct row_reply, signed_in, T_BOOL, .flags = F_REQUIRED, .doc = "somebody has signed in"),
};
static const struct shape row_shape = SHAPE(struct row_reply, "AdminAccountRow", row_fields);
static const struct field rows_fields[] = {
    FIELD(struct rows_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &row_shape),
};
static const struct shape rows_shape = SHAPE(struct rows_reply, "AdminAccounts", rows_fields);

static enum err add_accounts(struct request *q, struct reply *p)
{
    const struct add_body *body = q->body;
    const struct val *emails = body->emails.ptr;
    const size_t count = body->emails.count;
    struct added_reply *reply = arena_new(q->tx.arena, struct added_reply);
    struct added_row *list = arena_array(q->tx.arena, struct added_row, count);
    struct id id = {{0}};
    for (size_t i = 0; i < count; i++) {
        enum err e = account_ensure(&q->tx, emails[i].s, &id);
        if (e)
            return e;
        list[i] = (struct added_row){emails[i], v_str(arena_str(q->tx.arena, id_str(&id)))};
    }
    reply->data = v_list(list, count);
    q->subject = arena_printf(q->tx.arena, "accounts=%zu account=%s", count, id.text);
    return reply_ok(p, 201, &added_shape, reply);
}

static enum err list_accounts(struct request *q, struct reply *p)
{
    const struct list_query *query = q->query;
    const struct account_row *found;
    size_t count;
    const struct str after = v_set(query->after) ? query->after.s : STR("");
    enum err e = account_list(&q->tx, after, LIST_MAX, &found, &count);
    if (e)
        return e;
    struct rows_reply *reply = arena_new(q->tx.arena, struct rows_reply);
    struct row_reply *list = arena_array(q->tx.arena, struct row_reply, count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct row_reply){
            .email = v_str(found[i].email),
            .id = admin_id_val(&found[i].id),
            .created_at = v_time(found[i].created_us),
            .virtual_number = v_str(found[i].number),
            .signed_in = v_bool(found[i].signed_in),
        };
    reply->data = v_list(list, count);
    return reply_ok(p, 200, &rows_shape, reply);
}

/* ---- the revision of the interface ---- */

struct revision_body {
    struct val email, revision;
};
static const struct field revision_fields[] = {
    FIELD(struct revision_body, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .max = 254,
          .error = ERR_INVALID_EMAIL),
    FIELD(struct revision_body, revision, T_STRING, .flags = F_REQUIRED, .values = revisions),
};
static const struct shape revision_shape = SHAPE(struct revision_body, "AdminAccountRevision", revision_fields);

static enum err set_revision(struct request *q, struct reply *p)
{
    const struct revision_body *body = q->body;
    struct id account;
    enum err e = admin_account(&q->tx, body->email.s, &account);
    if (e)
        return e;
    q->subject = arena_printf(q->tx.arena, "account=%s revision=%.*s", account.text, STR_ARG(body->revision.s));
    e = account_set_revision(&q->tx, &account, str_index(body->revision.s, revisions));
    return e ? e : reply_ok(p, 200, &revision_shape, body);
}

/* ---- an export, which `porterod admin account export` reads from the store itself ---- */

struct exported {
    struct val account_id;
};
static const struct field exported_fields[] = {FIELD(struct exported, account_id, T_ID, .flags = F_REQUIRED)};
static const struct shape exported_shape = SHAPE(struct exported, "AdminAccountExported", exported_fields);

/* Only for the line of the log. */
static enum err note_export(struct request *q, struct reply *p)
{
    const struct exported *body = q->body;
    q->subject = arena_printf(q->tx.arena, "account=%.*s", STR_ARG(body->account_id.s));
    return reply_ok(p, 200, &exported_shape, body);
}

/* ---- the end ---- */

#define WAIT_MS 30000

struct erase_body {
    struct val account;
};
struct erase_reply {
    struct val account_id, status;
};

static const struct field erase_fields[] = {
    FIELD(struct erase_body, account, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = 254),
};
static const struct shape erase_shape = SHAPE(struct erase_body, "AdminAccountDelete", erase_fields);

static const char *const erase_statuses[] = {"deleting", "deleted", NULL};
static const struct field erased_fields[] = {
    FIELD(struct erase_reply, account_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct erase_reply, status, T_STRING, .flags = F_REQUIRED, .values = erase_statuses,
          .doc = "deleting: a job goes on; `porterod admin job list` shows it if a provider does not respond"),
};
static const struct shape erased_shape = SHAPE(struct erase_reply, "AdminAccountDeleted", erased_fields);

struct erase {
    struct str account;
    bool unused; /* only if nobody has used it */
    struct id id;
};

static enum err erase_begin_run(struct tx *tx, void *arg)
{
    struct erase *r = arg;
    bool used = false;
    enum err e = erasure_find(tx, r->account, &r->id);
    if (!e && r->unused)
        e = account_used(tx, &r->id, &used);
    if (!e && used)
        e = tx_fail(tx, ERR_BAD_REQUEST,
                    "somebody has used the account: `porterod admin account delete` deletes it with all that it has");
    return e ? e : erasure_begin(tx, &r->id);
}

static enum err erase_account(struct request *q, struct reply *p, struct str account, bool unused)
{
    struct erase *r = arena_new(q->tx.arena, struct erase);
    bool done = false;
    *r = (struct erase){.account = account, .unused = unused};
    enum err e = work_write(&q->work, erase_begin_run, r);
    if (id_given(&r->id))
        q->subject = arena_printf(q->tx.arena, "account=%s", r->id.text);
    if (!e)
        e = jobs_wait(q->parts->jobs, erasure_job(&r->id, q->tx.arena), WAIT_MS, &done);
    if (e) {
        q->tx.why = q->work.why;
        return e;
    }
    return reply_copy(q, p, 200, &erased_shape,
                      &(struct erase_reply){admin_id_val(&r->id), v_str(str_z(erase_statuses[done]))});
}

static enum err delete_account(struct request *q, struct reply *p)
{
    return erase_account(q, p, ((const struct erase_body *)q->body)->account.s, false);
}

static enum err remove_account(struct request *q, struct reply *p)
{
    return erase_account(q, p, ((const struct erase_body *)q->body)->account.s, true);
}

static const struct route rows[] = {
    ROUTE("adminShowAccount", GET, "/admin/accounts", .credential = CRED_CONTROL, .personal = true,
          .query = &query_shape, .run = RUN_READ, .handler = show_account, .reply = &account_shape,
          .doc = ROUTE_DOC("Accounts", 200, "An account and its buildings")),
    ROUTE("adminAddAccounts", POST, "/admin/accounts", .credential = CRED_CONTROL, .body = &add_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = add_accounts, .reply = &added_shape,
          .doc = ROUTE_DOC("Accounts", 201, "Make accounts for addresses, which then can sign in")),
    ROUTE("adminListAccounts", GET, "/admin/accounts/list", .credential = CRED_CONTROL, .personal = true,
          .query = &list_query_shape, .run = RUN_READ, .handler = list_accounts, .reply = &rows_shape,
          .doc = ROUTE_DOC("Accounts", 200, "List the accounts by address, at most 1000")),
    ROUTE("adminRemoveAccount", POST, "/admin/accounts/remove", .credential = CRED_CONTROL, .body = &erase_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = remove_account, .reply = &erased_shape,
          .doc = ROUTE_DOC("Accounts", 200, "Remove an account that nobody has used")),
    ROUTE("adminSetAccountRevision", POST, "/admin/accounts/revision", .credential = CRED_CONTROL,
          .body = &revision_shape, .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = set_revision,
          .reply = &revision_shape,
          .doc = ROUTE_DOC("Accounts", 200, "Choose the revision of the interface that an account's keys are served")),
    ROUTE("adminNoteExport", POST, "/admin/accounts/exported", .credential = CRED_CONTROL, .body = &exported_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_HERE, .handler = note_export, .reply = &exported_shape,
          .doc = ROUTE_DOC("Accounts", 200, "Note in the log that an account is exported")),
    ROUTE("adminDeleteAccount", POST, "/admin/accounts/delete", .credential = CRED_CONTROL, .body = &erase_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = delete_account, .reply = &erased_shape,
          .doc = ROUTE_DOC("Accounts", 200, "Delete an account and all that is held of its person")),
};
const struct route_set admin_account_routes = ROUTE_SET(rows);
