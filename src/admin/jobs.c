/* Jobs that have failed and will be retried. */
#include "admin/routes.h"
#include "domain/job.h"

#define LIST_MAX 100

struct job_row {
    struct val id, kind, attempts, created_at, next_attempt_at;
};
struct jobs_reply {
    struct val data;
};

static const struct field row_fields[] = {
    FIELD(struct job_row, id, T_STRING, .flags = F_REQUIRED, .doc = "as in the log"),
    FIELD(struct job_row, kind, T_STRING, .flags = F_REQUIRED),
    FIELD(struct job_row, attempts, T_INT, .flags = F_REQUIRED),
    FIELD(struct job_row, created_at, T_TIME, .flags = F_REQUIRED, .doc = "when it was last requested"),
    FIELD(struct job_row, next_attempt_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape row_shape = SHAPE(struct job_row, "AdminJob", row_fields);
static const struct field jobs_fields[] = {
    FIELD(struct jobs_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &row_shape),
};
static const struct shape jobs_shape = SHAPE(struct jobs_reply, "AdminJobs", jobs_fields);

static enum err list_jobs(struct request *q, struct reply *p)
{
    const struct failing_job *list;
    size_t count;
    enum err e = job_list_failing(&q->tx, LIST_MAX, &list, &count);
    if (e)
        return e;
    struct job_row *rows = arena_array(q->tx.arena, struct job_row, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct job_row){
            .id = v_str(list[i].id),
            .kind = v_str(list[i].kind),
            .attempts = v_int(list[i].attempts),
            .created_at = v_time(list[i].created_us),
            .next_attempt_at = v_time(list[i].due_us),
        };
    return reply_copy(q, p, 200, &jobs_shape, &(struct jobs_reply){.data = v_list(rows, count)});
}

static const struct route rows[] = {
    ROUTE("adminListJobs", GET, "/admin/jobs", .credential = CRED_CONTROL, .run = RUN_READ, .handler = list_jobs,
          .reply = &jobs_shape, .doc = ROUTE_DOC("Jobs", 200, "List jobs that have failed and will be retried")),
};
const struct route_set admin_job_routes = ROUTE_SET(rows);
