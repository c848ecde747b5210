/* Where tasks wait for a worker.
 *
 * Every wait has an end: a thread, the clerk, fails the tasks that have waited too long. While the server refuses
 * connections, as in a failover, they wait for `store.wait_s`, also if a primary that gives no answer has a standby
 * that does; while no server gives an answer, for 12 seconds; the visitor at a door for 5.
 *
 * A task that met a lock (a node that was frozen in a transaction holds it until the server ends that) waits again in a
 * lane that only a quarter of the workers serve. The first attempt is short. So neither many calls of one building, nor
 * writes of one account, keep all workers from the others.
 *
 * An eighth of the workers, at least one, is kept for short reads: while no standby confirms commits, each write holds
 * its worker. With a quarter, eight workers write a fifth less, because fewer commits share a sync. */
#include "base/clock.h"
#include "base/metric.h"
#include "base/wait.h"
#include "store/postgresql.h"

#define OVERTAKEN_MOST 16 /* urgent tasks that may run before another task */
#define URGENT_US      (5 * US_PER_S)
#define SILENT_US      (12 * US_PER_S)
#define WIND_DOWN_US   US_PER_S
#define KEPT_SHARE     8 /* one of so many workers is kept for short reads */

/* The share of the workers that may serve a lane at once: one of so many. */
static const size_t lane_share[LANE_COUNT] = {[LANE_URGENT] = 1, [LANE_URGENT_BLOCKED] = 4, [LANE_READS] = 1,
                                              [LANE_WRITES] = 1, [LANE_LENGTHY] = 2,        [LANE_BLOCKED] = 4};

static bool is_urgent(int lane)
{
    return lane == LANE_URGENT || lane == LANE_URGENT_BLOCKED;
}

/* ---- lanes ---- */

/* In the order of submission: a task that comes back was submitted before most others. */
static void lane_insert(struct postgresql_lane *l, struct store_task *task)
{
    struct store_task **at = &l->oldest;
    if (l->oldest && l->newest->submitted_us <= task->submitted_us)
        at = &l->newest->next;
    while (*at && (*at)->submitted_us <= task->submitted_us)
        at = &(*at)->next;
    task->next = *at;
    *at = task;
    if (!task->next)
        l->newest = task;
}

static struct store_task *lane_pop(struct postgresql_lane *l)
{
    struct store_task *task = l->oldest;
    l->oldest = task->next;
    return task;
}

/* Whether one more worker that is not reserved may have a task that may take long. */
static bool may_hold(const struct postgresql_store *s)
{
    const size_t kept = s->worker_count < KEPT_SHARE ? 1 : s->worker_count / KEPT_SHARE;
    const size_t reserved = s->workers[s->worker_count - 1].reserved;
    return s->held == 0 || s->held + kept + reserved < s->worker_count;
}

static bool lane_has_turn(const struct postgresql_store *s, int lane)
{
    const size_t most = s->worker_count / lane_share[lane];
    return s->lanes[lane].oldest && s->lanes[lane].running < (most ? most : 1) && (lane == LANE_READS || may_hold(s));
}

/* ---- ends of waits ---- */

/* How long a task of the lane may wait. */
static int64_t limit_us(const struct postgresql_store *s, int lane)
{
    const bool silent = atomic_load(&s->silent);
    int64_t limit = silent && s->wait_us > SILENT_US ? SILENT_US : s->wait_us;
    if (is_urgent(lane) && limit > URGENT_US)
        limit = URGENT_US;
    if (s->winding_down && (silent || s->connected == 0))
        limit = WIND_DOWN_US;
    return s->closed ? 0 : limit;
}

/* When the clerk must look at the lanes again. */
static int64_t next_end_us(const struct postgresql_store *s)
{
    int64_t at_us = INT64_MAX;
    for (int i = 0; i < LANE_COUNT; i++) {
        const struct store_task *task = s->lanes[i].oldest;
        const int64_t end_us = task ? task->submitted_us + limit_us(s, i) : INT64_MAX;
        at_us = end_us < at_us ? end_us : at_us;
    }
    return at_us;
}

static struct store_task *take_expired(struct postgresql_store *s, int64_t now_us)
{
    for (int i = 0; i < LANE_COUNT; i++) {
        struct store_task *task = s->lanes[i].oldest;
        if (task && now_us - task->submitted_us >= limit_us(s, i)) {
            s->waiting--;
            return lane_pop(&s->lanes[i]);
        }
    }
    return NULL;
}

/* Ends a task that no worker will run. */
static void refuse(struct store_task *task, const char *why)
{
    store_log_error(task->mode == STORE_WRITE ? "write" : "read", 0, why);
    store_task_done(task, ERR_SERVICE_UNAVAILABLE);
}

static const char *why_expired(const struct postgresql_store *s)
{
    return s->winding_down           ? "the service stops"
           : atomic_load(&s->silent) ? "PostgreSQL does not answer"
           : s->connected == 0       ? "there is no connection to PostgreSQL"
                                     : "no connection was free in time";
}

static void wait_for_end(struct postgresql_store *s)
{
    s->clerk_at_us = next_end_us(s);
    if (s->clerk_at_us < INT64_MAX)
        (void)cond_wait_until(&s->wake_clerk, &s->mutex, s->clerk_at_us);
    else if (!s->closed)
        pthread_cond_wait(&s->wake_clerk, &s->mutex);
}

void *postgresql_clerk(void *arg)
{
    struct postgresql_store *s = arg;
    struct store_task *task;
    pthread_mutex_lock(&s->mutex);
    while ((task = take_expired(s, clock_monotonic_us())) || !s->closed) {
        if (task) {
            const char *why = why_expired(s);
            pthread_mutex_unlock(&s->mutex);
            refuse(task, why);
            pthread_mutex_lock(&s->mutex);
        } else {
            wait_for_end(s);
        }
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* ---- tasks ---- */

/* The caller holds the mutex. */
static void enqueue(struct postgresql_store *s, struct store_task *task)
{
    const int64_t end_us = task->submitted_us + limit_us(s, task->lane);
    lane_insert(&s->lanes[task->lane], task);
    s->waiting++;
    if (end_us < s->clerk_at_us)
        pthread_cond_signal(&s->wake_clerk);
}

static int urgent_lane(const struct postgresql_store *s, bool reserved)
{
    if (reserved)
        return s->lanes[LANE_URGENT].oldest ? LANE_URGENT : LANE_COUNT;
    return lane_has_turn(s, LANE_URGENT)           ? LANE_URGENT
           : lane_has_turn(s, LANE_URGENT_BLOCKED) ? LANE_URGENT_BLOCKED
                                                   : LANE_COUNT;
}

/* The lane whose oldest task has waited longest. */
static int other_lane(const struct postgresql_store *s)
{
    int lane = LANE_COUNT;
    for (int i = 0; i < LANE_COUNT; i++)
        if (!is_urgent(i) && lane_has_turn(s, i) &&
            (lane == LANE_COUNT || s->lanes[i].oldest->submitted_us < s->lanes[lane].oldest->submitted_us))
            lane = i;
    return lane;
}

/* Urgent tasks come first, but now and then another one, so that those are not starved. */
static int next_lane(const struct postgresql_store *s, bool reserved)
{
    const int urgent = urgent_lane(s, reserved);
    if (reserved || (urgent < LANE_COUNT && s->overtaken < OVERTAKEN_MOST))
        return urgent;
    const int other = other_lane(s);
    return other < LANE_COUNT ? other : urgent;
}

/* Wakes a worker, and the reserved one, if there is a task that it may take. The caller holds the mutex. */
static void wake_workers(struct postgresql_store *s)
{
    if (next_lane(s, false) < LANE_COUNT)
        pthread_cond_signal(&s->wake);
    if (s->lanes[LANE_URGENT].oldest)
        pthread_cond_signal(&s->wake_reserved);
}

void postgresql_submit(struct store *base, struct store_task *task)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    const bool urgent = task->urgent;
    task->alone = false;
    task->losses = 0;
    task->lane = urgent                      ? LANE_URGENT
                 : task->lengthy             ? LANE_LENGTHY
                 : task->mode == STORE_WRITE ? LANE_WRITES
                                             : LANE_READS;
    pthread_mutex_lock(&s->mutex);
    const bool full = !urgent && s->waiting >= s->waiting_most; /* the number of calls bounds urgent tasks */
    if (!full) {
        enqueue(s, task);
        wake_workers(s);
    }
    pthread_mutex_unlock(&s->mutex);
    if (full)
        refuse(task, "store.queue tasks wait");
}

int64_t postgresql_oldest_us(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    int64_t oldest_us = 0;
    pthread_mutex_lock(&s->mutex);
    for (int i = 0; i < LANE_COUNT; i++) {
        const struct store_task *task = s->lanes[i].oldest;
        if (task && (!oldest_us || task->submitted_us < oldest_us))
            oldest_us = task->submitted_us;
    }
    pthread_mutex_unlock(&s->mutex);
    return oldest_us;
}

static bool holds(const struct postgresql_worker *w)
{
    return !w->reserved && w->lane != LANE_READS;
}

/* The caller holds the mutex. */
static void enter_lane(struct postgresql_worker *w, int lane)
{
    struct postgresql_store *s = w->db.store;
    w->lane = lane;
    s->lanes[lane].running++;
    s->held += holds(w);
}

/* The caller holds the mutex, and must wake a worker if this one takes no task next. */
static void leave_lane(struct postgresql_worker *w)
{
    struct postgresql_store *s = w->db.store;
    if (w->lane == LANE_COUNT)
        return;
    s->held -= holds(w);
    s->lanes[w->lane].running--;
    w->lane = LANE_COUNT;
}

/* Whether a caller's own connection needs a worker's, and another worker is left. */
static bool must_yield(const struct postgresql_store *s)
{
    return s->own_waiting && s->connected > 1;
}

struct store_task *postgresql_take(struct postgresql_worker *w)
{
    struct postgresql_store *s = w->db.store;
    struct store_task *task = NULL;
    int lane;
    pthread_mutex_lock(&s->mutex);
    leave_lane(w);
    while ((lane = next_lane(s, w->reserved)) == LANE_COUNT && !s->stop && !must_yield(s))
        pthread_cond_wait(w->reserved ? &s->wake_reserved : &s->wake, &s->mutex);
    if (must_yield(s)) {
        s->own_waiting = false;
        w->yielded = true;
    } else if (lane < LANE_COUNT) {
        s->overtaken = is_urgent(lane) ? s->overtaken + 1 : 0;
        s->waiting--;
        enter_lane(w, lane);
        task = lane_pop(&s->lanes[lane]);
        w->db.give_up_us = task->submitted_us + limit_us(s, lane);
    }
    wake_workers(s); /* this one may have left a lane that others waited for */
    pthread_mutex_unlock(&s->mutex);
    return task;
}

size_t postgresql_take_reads(struct postgresql_worker *w, struct store_task **ret, size_t most)
{
    struct postgresql_store *s = w->db.store;
    struct postgresql_lane *l = &s->lanes[LANE_READS];
    size_t n = 0;
    pthread_mutex_lock(&s->mutex);
    const size_t share = s->waiting / (s->connected ? s->connected : 1);
    while (n < most && n < share && l->oldest && !l->oldest->alone) {
        ret[n++] = lane_pop(l);
        s->waiting--;
    }
    pthread_mutex_unlock(&s->mutex);
    return n;
}

void postgresql_put_back(struct postgresql_worker *w, struct store_task *task, bool blocked)
{
    struct postgresql_store *s = w->db.store;
    pthread_mutex_lock(&s->mutex);
    leave_lane(w);
    if (blocked)
        task->lane = task->urgent ? LANE_URGENT_BLOCKED : LANE_BLOCKED;
    enqueue(s, task);
    wake_workers(s);
    pthread_mutex_unlock(&s->mutex);
}

bool postgresql_is_blocked(const struct postgresql_worker *w)
{
    return w->lane == LANE_URGENT_BLOCKED || w->lane == LANE_BLOCKED;
}

/* ---- the state of the server ---- */

void postgresql_set_connected(struct postgresql_worker *w, bool connected)
{
    struct postgresql_store *s = w->db.store;
    if (w->connected == connected)
        return;
    pthread_mutex_lock(&s->mutex);
    w->connected = connected;
    s->connected += connected ? 1 : (size_t)-1;
    metric_add(metrics.store_connections, connected ? 1 : -1);
    leave_lane(w);
    wake_workers(s);
    pthread_mutex_unlock(&s->mutex);
}

void postgresql_set_silent(struct postgresql_store *s, bool silent)
{
    if (atomic_load_explicit(&s->silent, memory_order_relaxed) == silent)
        return;
    pthread_mutex_lock(&s->mutex);
    atomic_store(&s->silent, silent);
    pthread_cond_signal(&s->wake_clerk); /* the ends of waits have changed */
    pthread_mutex_unlock(&s->mutex);
}

void postgresql_set_own_connecting(struct postgresql_store *s, bool connecting)
{
    pthread_mutex_lock(&s->mutex);
    s->own_connecting = s->own_waiting = connecting;
    if (connecting)
        pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->mutex);
}

void postgresql_wind_down(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    pthread_mutex_lock(&s->mutex);
    s->winding_down = true;
    pthread_cond_signal(&s->wake_clerk);
    pthread_mutex_unlock(&s->mutex);
}
