#include "domain/job.h"

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

enum err job_done(struct op *op, struct str id)
{
    return db_exec(op->db, SQL_JOB_DELETE, DB_ARGS(v_str(id)), NULL);
}
