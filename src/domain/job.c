#include "domain/job.h"

#include "domain/list.h"

static enum err job_insert(struct tx *tx, enum sql statement, struct str id, const char *kind, int64_t due_us,
                           struct str payload)
{
    db_notify(tx->db, TOPIC_JOBS);
    return db_exec(tx->db,
                   SQL_AS(statement, job_insert, .id = id, .kind = str_z(kind), .created_at = tx->now_us,
                          .due_at = due_us, .payload = payload),
                   NULL);
}

enum err job_add(struct tx *tx, const char *kind, int64_t due_us, struct str payload)
{
    struct id id = id_new(tx->now_us);
    return job_insert(tx, SQL_JOB_INSERT, id_str(&id), kind, due_us, payload);
}

enum err job_add_once(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload)
{
    return job_insert(tx, SQL_JOB_INSERT, name, kind, due_us, payload);
}

enum err job_add_again(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload)
{
    return job_insert(tx, SQL_JOB_INSERT_AGAIN, name, kind, due_us, payload);
}

enum err job_repeat(struct tx *tx, struct str id, int64_t created_us, int64_t due_us)
{
    db_notify(tx->db, TOPIC_JOBS);
    return db_exec(tx->db, SQL(job_repeat, .id = id, .created_at = created_us, .due_at = due_us), NULL);
}

enum err job_reschedule(struct tx *tx, struct str name, int64_t due_us)
{
    db_notify(tx->db, TOPIC_JOBS);
    return db_exec(tx->db, SQL(job_reschedule, .id = name, .due_at = due_us), NULL);
}

enum err job_reschedule_all(struct tx *tx, const char *kind, int64_t due_us)
{
    db_notify(tx->db, TOPIC_JOBS);
    return db_exec(tx->db, SQL(job_reschedule_all, .kind = str_z(kind), .due_at = due_us), NULL);
}

enum err job_hold(struct tx *tx, struct str name, const char *kind, struct str payload, const struct id *node,
                  int64_t lease_us, int64_t *ret_lease)
{
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL(job_hold, .id = name, .kind = str_z(kind), .created_at = tx->now_us, .payload = payload,
                            .lasts = lease_us, .leased_by = node),
                        &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret_lease = e ? 0 : row_job_hold(&c, NULL).leased_until;
    return ERR_NONE;
}

enum err job_release(struct tx *tx, struct str name, int64_t lease)
{
    return db_exec(tx->db, SQL(job_release, .id = name, .leased_until = lease), NULL);
}

enum err job_done(struct tx *tx, struct str id)
{
    return db_exec(tx->db, SQL(job_delete, .id = id), NULL);
}

enum err job_list_failing(struct tx *tx, int64_t limit, const struct failing_job **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(job_list_failing, .limit = limit), &c);
    if (e)
        return e;
    struct failing_job *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_job_list_failing row = row_job_list_failing(&c, tx->arena);
        list[count++] = (struct failing_job){
            .id = row.job.id,
            .kind = row.job.kind,
            .attempts = row.job.attempts,
            .created_us = row.job.created_at,
            .due_us = row.due_at,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
