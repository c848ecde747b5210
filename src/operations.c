/* Writes the rows of client/operation_row.h as a source, from the routes and fields of the interface: while the program
 * is built. It is not installed. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/schedule.h"
#include "documents/operation_name.h"
#include "resources/routes.h"

#define NAMED_MAX 1024

/* Objects that are written already, by address; the place of each is in its name. */
struct named {
    const void *all[NAMED_MAX];
    size_t count;
};

static struct named shapes, lists;

/* The number of p, and whether it is new. */
static bool is_new(struct named *n, const void *p, size_t *ret)
{
    for (*ret = 0; *ret < n->count; ++*ret)
        if (n->all[*ret] == p)
            return false;
    assert(n->count < NAMED_MAX);
    n->all[n->count++] = p;
    return true;
}

static void put_string(const char *text)
{
    if (!text) {
        fputs("NULL", stdout);
        return;
    }
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        printf(*p < ' ' || *p == '"' || *p == '\\' || *p >= 0x7f ? "\\%03o" : "%c", *p);
    putchar('"');
}

static void put_member(const char *name, const char *text)
{
    if (!text)
        return;
    printf(", .%s = ", name);
    put_string(text);
}

/* The client knows the days' names by its own list (client/day_words.h). */
static void write_list(const char *const *values)
{
    size_t n;
    if (!values || values == schedule_day_names || !is_new(&lists, values, &n))
        return;
    printf("static const char *const list_%zu[] = {", n);
    for (size_t i = 0; values[i]; i++) {
        put_string(values[i]);
        fputs(", ", stdout);
    }
    puts("NULL};");
}

static void write_shape(const struct shape *shape);

static void write_parts(const struct shape *shape)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        write_list(shape->fields[i].values);
        if (shape->fields[i].sub)
            write_shape(shape->fields[i].sub);
    }
    for (size_t i = 0; shape->variants && shape->variants[i]; i++)
        write_shape(shape->variants[i]);
}

/* A body's members are all struct val, so that places and sizes are numbers of these. */
static size_t vals(size_t bytes)
{
    assert(bytes % sizeof(struct val) == 0);
    return bytes / sizeof(struct val);
}

static void put_values(const char *const *values)
{
    size_t n;
    if (values == schedule_day_names)
        fputs(", .values = day_words_names", stdout);
    else if (values && !is_new(&lists, values, &n))
        printf(", .values = list_%zu", n);
}

static void put_field(const struct field *f)
{
    size_t n;
    fputs("    {.name = ", stdout);
    put_string(f->name);
    printf(", .type = %d, .flags = %u, .offset = %zu * sizeof(struct val)", (int)f->type, f->flags, vals(f->offset));
    printf(", .min = INT64_C(%" PRId64 "), .max = INT64_C(%" PRId64 ")", f->min, f->max);
    put_member("doc", f->doc);
    put_member("pattern", f->pattern);
    put_member("form", f->form);
    put_member("format", f->format);
    put_values(f->values);
    if (f->sub && !is_new(&shapes, f->sub, &n))
        printf(", .sub = &shape_%zu", n);
    puts("},");
}

static void write_variants(const struct shape *shape, size_t of)
{
    size_t n;
    printf("static const struct shape *const variants_%zu[] = {", of);
    for (size_t i = 0; shape->variants[i]; i++)
        if (!is_new(&shapes, shape->variants[i], &n))
            printf("&shape_%zu, ", n);
    puts("NULL};");
}

static void write_shape(const struct shape *shape)
{
    size_t n;
    if (!is_new(&shapes, shape, &n))
        return;
    write_parts(shape);
    if (shape->field_count) {
        printf("static const struct field fields_%zu[] = {\n", n);
        for (size_t i = 0; i < shape->field_count; i++)
            put_field(&shape->fields[i]);
        puts("};");
    }
    if (shape->variants)
        write_variants(shape, n);
    printf("static const struct shape shape_%zu = {.size = %zu * sizeof(struct val), .open = %d", n, vals(shape->size),
           shape->open);
    if (shape->field_count)
        printf(", .fields = fields_%zu, .field_count = %zu", n, shape->field_count);
    if (shape->variants)
        printf(", .variants = variants_%zu", n);
    puts("};");
}

static void put_shape(const char *member, const struct shape *shape)
{
    size_t n;
    if (shape && !is_new(&shapes, shape, &n))
        printf(", .%s = &shape_%zu", member, n);
}

static void put_row(const struct route *r)
{
    char name[OPERATION_NAME_MAX];
    operation_command_name(r, name);
    fputs("    {.id = ", stdout);
    put_string(r->operation_id);
    put_member("name", name);
    put_member("summary", r->doc.summary);
    put_member("method", http_method_names[r->method].p);
    put_member("path", r->path);
    put_member("media", r->media);
    put_shape("query", r->query);
    put_shape("body", r->body);
    printf(", .match = OPERATION_MATCH_%s", r->match == MATCH_GRANT ? "GRANT" : r->match ? "SETTINGS" : "NONE");
    printf(", .body_optional = %d, .building = %d, .idempotency = %d", r->body_optional, r->building == BUILDING_HEADER,
           r->idempotency != NEED_NOT);
    printf(", .json = %d, .address = %d, .open = %d},\n", r->reply != NULL, r->doc.status / 100 == 3,
           r->credential == CRED_NONE);
}

static void each_route(void (*put)(const struct route *r))
{
    for (size_t i = 0; i < openapi_contract.set_count; i++)
        for (size_t j = 0; j < openapi_contract.sets[i]->count; j++)
            if (!(openapi_contract.sets[i]->rows[j].flags & ROUTE_PAGE))
                put(&openapi_contract.sets[i]->rows[j]);
}

static void write_shapes(const struct route *r)
{
    if (r->query)
        write_shape(r->query);
    if (r->body)
        write_shape(r->body);
}

int main(void)
{
    puts("/* Generated by src/operations.c. */\n#include \"client/operation_row.h\"\n\n#include "
         "\"client/day_words.h\"\n");
    each_route(write_shapes);
    puts("\nconst struct operation_row operation_rows[] = {");
    each_route(put_row);
    puts("    {0},\n};");
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
