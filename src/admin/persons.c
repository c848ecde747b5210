/* The data of a person who is known by a number or an address, and its end (privacy/person.h). */
#include <inttypes.h>

#include "admin/routes.h"
#include "privacy/person.h"
#include "privacy/person_text.h"

#define RUN_US   (5 * US_PER_S) /* of a request; its `next` goes on */
#define ROWS_MAX (12U << 20)
#define ROWS_END (2U << 20) /* a part is not longer, but for the rows of one window */

struct person_body {
    struct val person, after;
};
struct found_row {
    struct val table, rows, kept;
};
struct person_reply {
    struct val found, rows, next;
};

static const struct field body_fields[] = {
    FIELD(struct person_body, person, T_STRING, .flags = F_REQUIRED | F_TRIM, .max = 254,
          .doc = "telephone number or e-mail address"),
    FIELD(struct person_body, after, T_STRING, .max = 512, .doc = "`next` of the part before"),
};
static const struct shape body_shape = SHAPE(struct person_body, "AdminPerson", body_fields);

static const struct field found_fields[] = {
    FIELD(struct found_row, table, T_STRING, .flags = F_REQUIRED),
    FIELD(struct found_row, rows, T_INT, .flags = F_REQUIRED),
    FIELD(struct found_row, kept, T_BOOL, .flags = F_REQUIRED, .doc = "of an account, whose deletion ends them"),
};
static const struct shape found_shape = SHAPE(struct found_row, "AdminPersonFound", found_fields);
static const struct field reply_fields[] = {
    FIELD(struct person_reply, found, T_OBJECTS, .flags = F_REQUIRED, .sub = &found_shape),
    FIELD(struct person_reply, rows, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the rows: JSON objects, with commas between them"),
    FIELD(struct person_reply, next, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: this is the last part"),
};
static const struct shape reply_shape = SHAPE(struct person_reply, "AdminPersonPart", reply_fields);

/* A step that the store may run again. */
struct step {
    struct person_walk walk; /* before it */
    struct person_walk done;
    size_t written;
};

static enum err run_step(struct tx *tx, void *arg)
{
    struct step *s = arg;
    s->done = s->walk;
    if (s->walk.out)
        s->walk.out->n = s->written;
    return person_step(tx, &s->done);
}

static enum err walk(struct request *q, struct person_walk *w)
{
    const int64_t until_us = clock_monotonic_us() + RUN_US;
    struct step s = {.walk = *w};
    enum err e = ERR_NONE;
    while (!e && s.walk.mark.table < PERSON_TABLES && clock_monotonic_us() < until_us && s.written < ROWS_END) {
        e = w->erase ? work_write(&q->work, run_step, &s) : work_read(&q->work, run_step, &s);
        if (!e)
            s.walk = s.done;
        s.written = w->out ? w->out->n : 0;
    }
    *w = s.walk;
    return e;
}

static const struct person_reply *reply_of(struct request *q, const struct person_walk *w)
{
    struct arena *a = q->tx.arena;
    struct person_reply *r = arena_new(a, struct person_reply);
    struct found_row *rows = arena_array(a, struct found_row, PERSON_TABLES);
    size_t count = 0;
    int64_t total = 0;
    for (size_t i = 0; i < PERSON_TABLES; total += w->found[i++])
        if (w->found[i])
            rows[count++] =
                (struct found_row){v_str(str_z(person_table_name(i))), v_int(w->found[i]), v_bool(person_keeps(i))};
    q->subject = arena_printf(a, "rows=%" PRId64, total);
    r->found = v_list(rows, count);
    r->rows = w->out ? v_str(arena_str(a, buf_view(w->out))) : v_null();
    r->next = w->mark.table < PERSON_TABLES ? v_str(person_mark_write(&w->mark, a)) : v_null();
    return r;
}

static enum err handle(struct request *q, struct reply *p, struct buf *out)
{
    const struct person_body *body = q->body;
    struct person_walk w = {.erase = !out, .out = out};
    if (!person_word(body->person.s, q->tx.arena, &w.word))
        return tx_fail(&q->tx, ERR_BAD_REQUEST,
                       "person must be a telephone number, such as +12125550123, or an e-mail address");
    if (v_set(body->after) && !person_mark_read(body->after.s, q->tx.arena, &w.mark))
        return ERR_INVALID_CURSOR;
    enum err e = walk(q, &w);
    const struct person_reply *reply = reply_of(q, &w);
    if (e)
        q->tx.why = q->work.why;
    return e ? e : reply_ok(p, 200, &reply_shape, reply);
}

static enum err read_person(struct request *q, struct reply *p)
{
    struct buf out = BUF(ROWS_MAX);
    enum err e = handle(q, p, &out);
    buf_done(&out);
    return e;
}

/* An error ends it; rows that were erased before stay erased. */
static enum err erase_person(struct request *q, struct reply *p)
{
    return handle(q, p, NULL);
}

static const struct route rows[] = {
    ROUTE("adminReadPerson", POST, "/admin/persons/read", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = read_person, .reply = &reply_shape,
          .doc = ROUTE_DOC("Persons", 200, "Read what is held of a person, in parts")),
    ROUTE("adminErasePerson", POST, "/admin/persons/erase", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = erase_person, .reply = &reply_shape,
          .doc = ROUTE_DOC("Persons", 200, "Erase what is held of a person, in parts")),
};
const struct route_set admin_person_routes = ROUTE_SET(rows);
