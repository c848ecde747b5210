/* One operation: the request is made, sent or printed, and the answer printed. */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/id.h"
#include "base/mem.h"
#include "client/complain.h"
#include "client/curl_line.h"
#include "client/event_stream.h"
#include "client/operation_answer.h"
#include "client/operation_input.h"
#include "client/remote.h"
#include "client/remote_building.h"

#define PATH_MAX_LEN (64U << 10)

struct run {
    const struct operation *o;
    const struct operation_options *given;
    struct arguments operands;
    struct remote remote;
    struct operation_input in;
    struct arena arena;
    struct remote_call call;
};

/* ---- the path ---- */

/* Whether the argument is a part of a path: an empty one, "." or ".." would name another resource. */
static bool is_argument(const struct run *r, const char *given)
{
    const bool valid = *given && strcmp(given, ".") != 0 && strcmp(given, "..") != 0;
    if (!valid)
        complain("%s: \"%s\" is not a valid argument", r->o->command.name, given);
    return valid;
}

static int put_path_building(struct run *r, const char *given, struct buf *path)
{
    struct id found;
    if (given) {
        operation_put_escaped(given, path);
        return EXIT_DONE;
    }
    const int status = remote_only_building(&r->remote, &r->arena, &found);
    if (!status)
        buf_str(path, id_str(&found));
    return status;
}

/* The row's path with the arguments in place of its parameters. A building that is not given is the only one. */
static int put_path(struct run *r, struct buf *path)
{
    int next = 0, status = EXIT_DONE;
    struct str rest = str_z(r->o->row->path), parameter;
    for (;;) {
        buf_str(path, str_cut(rest, '{', &rest));
        if (!rest.p)
            return status;
        parameter = str_cut(rest, '}', &rest);
        const char *given = next < r->operands.count ? r->operands.words[next] : NULL;
        next++;
        if (given && !is_argument(r, given))
            status = EXIT_USAGE;
        else if (str_eq(parameter, STR("buildingId")))
            status = put_path_building(r, given, path);
        else
            operation_put_escaped(given, path);
        if (status || !rest.p)
            return status;
    }
}

static int make_path(struct run *r)
{
    struct buf path = BUF(PATH_MAX_LEN);
    int status = put_path(r, &path);
    operation_put_query(r->in.query, &path);
    if (!status && path.full) {
        complain("%s: the arguments are too long", r->o->command.name);
        status = EXIT_USAGE;
    }
    r->call.path = arena_str(&r->arena, buf_view(&path)).p;
    buf_done(&path);
    return status;
}

/* ---- the headers ---- */

/* 128 random bits. */
static const char *new_idempotency_key(struct arena *a)
{
    unsigned char random[16];
    char hex[2 * sizeof random + 1];
    crypto_random(random, sizeof random);
    hex_encode(random, sizeof random, hex);
    return arena_printf(a, "cli-%s", hex).p;
}

/* The version to change, unless it is given: the ETag of the same address. */
static int ask_version(struct run *r)
{
    struct remote_answer answer;
    struct remote_call call = {.method = "GET", .path = r->call.path, .building = r->call.building, .repeatable = true};
    int status = remote_send(&r->remote, &call, &r->arena, &answer);
    if (status)
        return status;
    if (answer.status != 200)
        return operation_print_error(&r->remote, &answer, r->given->json);
    r->call.if_match = answer.etag.p; /* without a version, the service tells why it cannot be changed */
    return EXIT_DONE;
}

/* A grant's version may be given without its quotes. */
static const char *quoted_version(const struct operation_row *row, const char *version, struct arena *a)
{
    const bool bare = version[strspn(version, "0123456789")] == '\0';
    return row->match == OPERATION_MATCH_GRANT && bare ? arena_printf(a, "\"%s\"", version).p : version;
}

static bool are_headers(const struct run *r)
{
    const char *command = r->o->command.name;
    return operation_is_header(command, "building", r->given->building) &&
           operation_is_header(command, "idempotency-key", r->given->idempotency_key) &&
           operation_is_header(command, "if-match", r->given->if_match);
}

static int make_headers(struct run *r)
{
    const struct operation_row *row = r->o->row;
    const struct operation_options *given = r->given;
    if (!are_headers(r))
        return EXIT_USAGE;
    r->call.building = given->building;
    if (row->idempotency)
        r->call.idempotency_key = given->idempotency_key ? given->idempotency_key : new_idempotency_key(&r->arena);
    if (row->match && !given->if_match)
        return ask_version(r);
    if (row->match)
        r->call.if_match = quoted_version(row, given->if_match, &r->arena);
    return EXIT_DONE;
}

static int make_call(struct run *r)
{
    const struct operation_row *row = r->o->row;
    r->call.method = row->method;
    r->call.body = r->in.body_text;
    r->call.repeatable = !strcmp(row->method, "GET") || !strcmp(row->method, "DELETE") || row->idempotency;
    const int status = make_path(r);
    return status ? status : make_headers(r);
}

/* ---- pages ---- */

/* The cursor of the next page, in the arena; NULL on the last one. */
static const char *next_cursor(const json_t *page)
{
    const json_t *pagination = json_object_get(page, "pagination");
    return json_is_true(json_object_get(pagination, "has_more"))
               ? json_string_value(json_object_get(pagination, "cursor"))
               : NULL;
}

/* Prints the page and sets the path to the next one. Returns -1 if there is a next one, else the exit status. */
static int print_page(struct run *r, const struct remote_answer *answer, struct operation_rows *rows)
{
    json_t *page = NULL;
    if (answer->status != 200)
        return operation_print_error(&r->remote, answer, r->given->json);
    if (json_read(answer->body, &page) || !json_is_array(json_object_get(page, "data"))) {
        json_decref(page);
        complain("the service responded without a list");
        return EXIT_FAILED;
    }
    operation_print_rows(rows, json_object_get(page, "data"));
    const char *cursor = next_cursor(page);
    int status = EXIT_DONE;
    if (cursor) {
        json_object_set_new(r->in.query, "cursor", json_string(cursor));
        status = make_path(r);
        status = status ? status : -1;
    }
    json_decref(page);
    return status;
}

/* Keeps one page in memory at a time. */
static int run_pages(struct run *r)
{
    struct operation_rows rows = {.json = r->given->json};
    int status = -1;
    while (status < 0) {
        struct remote_answer answer;
        struct run one = {
            .o = r->o, .given = r->given, .operands = r->operands, .remote = r->remote, .in = r->in, .call = r->call};
        char *path = mem_strdup(r->call.path);
        one.call.path = path;
        arena_init(&one.arena, NULL, 0);
        status = remote_send(&one.remote, &one.call, &one.arena, &answer);
        if (!status)
            status = print_page(r, &answer, &rows);
        arena_done(&one.arena);
        free(path);
    }
    operation_print_rows_end(&rows);
    return status;
}

/* ---- all ---- */

static bool is_stream(const struct operation_row *row)
{
    return row->media && !strcmp(row->media, "text/event-stream");
}

/* A grant can be made before its building has a number and a release tone. A failure here is none of the creation. */
static void tell_missing_steps(struct run *r, struct str grant)
{
    struct remote_answer answer;
    json_t *made = NULL, *account = NULL;
    if (!json_read(grant, &made)) {
        const struct remote_call call = {.method = "GET",
                                         .path = "/v1/account",
                                         .building = json_string_value(json_object_get(made, "building_id")),
                                         .repeatable = true};
        if (!remote_send(&r->remote, &call, &r->arena, &answer) && answer.status == 200 &&
            !json_read(answer.body, &account))
            operation_print_missing_steps(account);
    }
    json_decref(account);
    json_decref(made);
}

static int send_call(struct run *r)
{
    const struct operation_row *row = r->o->row;
    struct remote_answer answer;
    if (r->given->dry_run) {
        curl_line_print(&r->remote, &r->call, stdout);
        return EXIT_DONE;
    }
    if (is_stream(row))
        return event_stream_print(&r->remote, r->call.path, r->given->json);
    if (r->given->all)
        return run_pages(r);
    int status = remote_send(&r->remote, &r->call, &r->arena, &answer);
    if (status && r->call.idempotency_key)
        complain("to try again without doing it twice: --idempotency-key %s", r->call.idempotency_key);
    if (!status)
        status = operation_print(r->o, &r->remote, &answer, r->given);
    if (!status && !r->given->json && (!strcmp(row->id, "createUnlock") || !strcmp(row->id, "createPass")))
        tell_missing_steps(r, answer.body);
    return status;
}

/* A key is not asked for where the interface needs none. */
static int check_key(const struct run *r)
{
    if (r->remote.key || r->o->row->open || r->given->dry_run)
        return EXIT_DONE;
    complain("there is no key for %s: `portero login`, or set " REMOTE_KEY_VARIABLE, r->remote.url);
    return EXIT_NO_KEY;
}

int operation_command_run(const struct command *self, const void *given, struct arguments operands)
{
    struct run r = {.o = (const struct operation *)self, .given = given, .operands = operands};
    arena_init(&r.arena, NULL, 0);
    int status = operation_input_read(r.o, r.given, &r.arena, &r.in);
    if (!status) {
        status = remote_open(r.given->profile, r.given->ca_file, &r.remote);
        if (!status)
            status = check_key(&r);
        if (!status)
            status = make_call(&r);
        if (!status)
            status = send_call(&r);
        remote_done(&r.remote);
        json_decref(r.in.query);
        json_decref(r.in.body);
    }
    arena_done(&r.arena);
    return status;
}
