#include "domain/job.h"

#include "domain/row.h"

static enum err insert(struct op *op, enum sql statement, struct str id, const char *kind, int64_t due_us,
                       struct str payload)
{
    db_notify(op->db, TOPIC_JOBS);
    return db_exec(
        op->db, statement,
        DB_ARGS(v_str(id), v_str(str_z(kind)), v_int(op->now_us), v_int(due_us), v_blob(payload.p, payload.n)), NULL);
}

enum err job_add(struct op *op, const char *kind, int64_t due_us, struct str payload)
{
    struct id id = id_new(op->now_us);
    return insert(op, SQL_JOB_INSERT, id_str(&id), kind, due_us, payload);
}

enum err job_add_once(struct op *op, struct str name, const char *kind, int64_t due_us, struct str payload)
{
    return insert(op, SQL_JOB_INSERT, name, kind, due_us, payload);
}

enum err job_add_again(struct op *op, struct str name, const char *kind, int64_t due_us, struct str payload)
{
    return insert(op, SQL_JOB_INSERT_AGAIN, name, kind, due_us, payload);
}

enum err job_repeat(struct op *op, struct str id, int64_t created_us, int64_t due_us)
{
    db_notify(op->db, TOPIC_JOBS);
    return db_exec(op->db, SQL_JOB_REPEAT, DB_ARGS(v_str(id), v_int(created_us), v_int(due_us)), NULL);
}

enum err job_hasten(struct op *op, struct str name, int64_t due_us)
{
    db_notify(op->db, TOPIC_JOBS);
    return db_exec(op->db, SQL_JOB_HASTEN, DB_ARGS(v_str(name), v_int(due_us)), NULL);
}

enum err job_hasten_all(struct op *op, const char *kind, int64_t due_us)
{
    db_notify(op->db, TOPIC_JOBS);
    return db_exec(op->db, SQL_JOB_HASTEN_ALL, DB_ARGS(v_str(str_z(kind)), v_int(due_us)), NULL);
}

enum err job_hold(struct op *op, struct str name, const char *kind, struct str payload, int64_t until_us,
                  bool *ret_held)
{
    int64_t held;
    enum err e = db_exec(op->db, SQL_JOB_HOLD,
                         DB_ARGS(v_str(name), v_str(str_z(kind)), v_int(op->now_us), v_blob(payload.p, payload.n),
                                 v_int(until_us), v_int(clock_real_us())),
                         &held);
    if (!e)
        *ret_held = held > 0;
    return e;
}

enum err job_let_go(struct op *op, struct str name, int64_t until_us)
{
    return db_exec(op->db, SQL_JOB_LET_GO, DB_ARGS(v_str(name), v_int(until_us)), NULL);
}

enum err job_done(struct op *op, struct str id)
{
    return db_exec(op->db, SQL_JOB_DELETE, DB_ARGS(v_str(id)), NULL);
}

enum err job_list_failing(struct op *op, int64_t limit, const struct failing_job **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(op->db, SQL_JOB_LIST_FAILING, DB_ARGS(v_int(limit)), &c);
    if (e)
        return e;
    struct failing_job *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(op->arena, list, count, &room, sizeof *list);
        list[count++] = (struct failing_job){
            .id = col_copy(&c, 0, op->arena),
            .kind = col_copy(&c, 1, op->arena),
            .attempts = col_int(&c, 2),
            .created_us = col_int(&c, 3),
            .due_us = col_int(&c, 4),
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
