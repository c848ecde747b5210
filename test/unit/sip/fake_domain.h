/* A domain and a store for tests of voice: decisions by dialled number, on a thread as in the service. Include it in
 * one file of a test; it replaces domain/access.c, domain/call_record.c, domain/feed_call.c and store/store.c. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "domain/call_record.h"
#include "domain/feed.h"
#include "domain/key_life.h"
#include "domain/recording.h"
#include "domain/visit.h"

#define FAKE_OPEN    "+15550000001" /* opens at once: 9 */
#define FAKE_CODE    "+15550000002" /* asks for a code: 1234 or 7 open with 9#0 */
#define FAKE_FORWARD "+15550000003" /* forwards, without a phone */
#define FAKE_OWNER   "+15550000004" /* the owner's own call */
#define FAKE_BROKEN  "+15550000005" /* the store fails */
#define FAKE_SILENT  "+15550000006" /* asks for a code, without greetings */
#define FAKE_SLOW    "+15550000007" /* opens after FAKE_SLOW_US */
#define FAKE_RING    "+15550000010" /* forwards to fake.phones */
#define FAKE_TRY     "+15550000011" /* asks for a code, without greetings; forwards to fake.phones after wrong ones */

#define FAKE_RECORDED "+15550000008" /* as FAKE_CODE, with a recorded welcome */

#define FAKE_RECORDING       "0123456789abcdef01234567"
#define FAKE_RECORDED_LENGTH 8000

#define FAKE_SLOW_US (1500 * 1000) /* far longer than the messages before the decision take */

static _Atomic bool fake_recording_held, fake_recording_broken;

static const char FAKE_BUILDING[] = "0123456789abcdef0123";

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct store_task *first, **last;
    bool running, stop;
    bool held; /* decisions wait */
    int arrived, opened, right, wrong, forwarded;
    char codes[64][8]; /* in the order of the questions */
    int code_count;
    char from[32];
    int records;                       /* of calls that have ended */
    char steps[CALL_RECORD_STEPS_MAX]; /* of the last one */
    enum call_ended_by ended_by;
    struct release release;                   /* of every building */
    const char *phones[1 + RING_NUMBERS_MAX]; /* of FAKE_RING and FAKE_TRY, whose release tone is 5 */
    struct ring ring;                         /* how they ring; its numbers are ignored */
    enum access_audio audio;                  /* of the last call that was decided about */
    bool known;                               /* callers have opened the door before */
    bool browsers;                            /* are told of visitors to these */
    const char *welcome;                      /* a greeting; NULL: "welcome" */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void fake_building(struct id *ret, int kind)
{
    (void)snprintf(ret->text, sizeof ret->text, "%s%04d", FAKE_BUILDING, kind);
}

static int fake_kind(const struct id *building)
{
    return atoi(building->text + strlen(FAKE_BUILDING));
}

static void fake_greetings(struct access_decision *d, int kind)
{
    bool speaks = kind != 6 && kind < 10;
    pthread_mutex_lock(&fake.lock);
    d->release = fake.release;
    d->greeting_welcome = !speaks ? STR("") : fake.welcome ? str_z(fake.welcome) : STR("welcome");
    pthread_mutex_unlock(&fake.lock);
    d->greeting_granted = STR("");
    d->greeting_denied = speaks ? STR("denied") : STR("");
    d->greeting_forwarding = speaks ? STR("forwarding") : STR("");
    d->greeting_message = STR("message");
}

/* The recording: a byte for each sample. Waits while decisions are held. */
static inline uint8_t fake_recorded(size_t i)
{
    return (uint8_t)(i * i / 64 * 37);
}

enum err recording_audio(struct tx *tx, const struct id *recording, struct str *ret)
{
    (void)recording;
    char *audio = arena_alloc(tx->arena, FAKE_RECORDED_LENGTH);
    for (size_t i = 0; i < FAKE_RECORDED_LENGTH; i++)
        audio[i] = (char)fake_recorded(i);
    *ret = str_n(audio, FAKE_RECORDED_LENGTH);
    while (atomic_load(&fake_recording_held))
        usleep(1000);
    return atomic_load(&fake_recording_broken) ? ERR_INTERNAL_ERROR : ERR_NONE;
}

static void fake_phones(struct access_decision *d, int kind)
{
    if (kind < 10)
        return;
    memcpy(d->tones, "5", 2);
    pthread_mutex_lock(&fake.lock);
    d->ring = fake.ring;
    d->browsers = fake.browsers;
    d->ring.count = 0;
    d->forward_to = fake.phones[0] ? str_z(fake.phones[0]) : STR_NONE;
    for (size_t i = 1; i <= RING_NUMBERS_MAX && fake.phones[i]; i++)
        d->ring.numbers[d->ring.count++] = str_z(fake.phones[i]);
    pthread_mutex_unlock(&fake.lock);
}

#define FAKE_LENGTHS (1 << 1 | 1 << 4) /* of "7" and "1234" */

static _Atomic bool fake_key_ended;

enum err key_lives(struct tx *tx, const struct id *account, const struct id *key, bool *ret)
{
    (void)tx, (void)account, (void)key;
    *ret = !atomic_load(&fake_key_ended);
    return ERR_NONE;
}

enum err visit_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    (void)tx, (void)arrival, (void)end;
    return ERR_NONE;
}

enum err access_arrive(struct tx *tx, struct str to, struct str from, enum access_audio audio,
                       struct access_decision *ret)
{
    (void)tx;
    static const enum access_verdict verdicts[] = {ACCESS_REJECT,    ACCESS_RELEASE, ACCESS_COLLECT, ACCESS_FORWARD,
                                                   ACCESS_SELF_CALL, ACCESS_REJECT,  ACCESS_COLLECT, ACCESS_RELEASE,
                                                   ACCESS_COLLECT,   ACCESS_REJECT,  ACCESS_FORWARD, ACCESS_COLLECT};
    size_t kind = str_starts(to, STR("+155500000")) && to.n == 12 ? (size_t)atoi(to.p + 10) : 0;
    if (kind >= sizeof verdicts / sizeof *verdicts)
        kind = 0;
    if (kind == 5)
        return ERR_INTERNAL_ERROR;
    if (kind == 7)
        usleep(FAKE_SLOW_US);
    *ret = (struct access_decision){.verdict = verdicts[kind], .lengths = FAKE_LENGTHS};
    if (ret->verdict == ACCESS_RELEASE)
        strcpy(ret->tones, "9");
    if (ret->verdict == ACCESS_RELEASE && audio != AUDIO_TAKEN)
        ret->verdict = audio == AUDIO_UNKNOWN ? ACCESS_ANSWER : ACCESS_FORWARD;
    fake_building(&ret->building_id, (int)kind);
    fake_greetings(ret, (int)kind);
    fake_phones(ret, (int)kind);
    if (kind == 8)
        memcpy(ret->recordings[GREETING_WELCOME].text, FAKE_RECORDING, sizeof FAKE_RECORDING);
    pthread_mutex_lock(&fake.lock);
    ret->known_caller = fake.known;
    fake.audio = audio;
    fake.arrived++;
    fake.opened += ret->verdict == ACCESS_RELEASE;
    (void)snprintf(fake.from, sizeof fake.from, "%.*s", STR_ARG(from));
    pthread_mutex_unlock(&fake.lock);
    return ERR_NONE;
}

enum err access_look(struct tx *tx, struct str to, struct str from, struct access_decision *ret)
{
    (void)tx, (void)to, (void)from, (void)ret;
    return ERR_INTERNAL_ERROR;
}

enum err access_code(struct tx *tx, const struct id *building, struct str from, enum access_audio audio,
                     struct str digits, enum access_way way, struct access_decision *ret)
{
    (void)tx;
    (void)from;
    (void)way;
    bool right = str_eq(digits, STR("1234")) || str_eq(digits, STR("7"));
    *ret = (struct access_decision){
        .verdict = right ? ACCESS_RELEASE : ACCESS_WRONG, .building_id = *building, .lengths = FAKE_LENGTHS};
    if (right)
        strcpy(ret->tones, "9#0");
    fake_greetings(ret, fake_kind(building));
    fake_phones(ret, fake_kind(building));
    pthread_mutex_lock(&fake.lock);
    fake.audio = audio;
    (void)snprintf(fake.codes[fake.code_count++ % 64], 8, "%.*s", STR_ARG(digits));
    right ? fake.right++ : fake.wrong++;
    pthread_mutex_unlock(&fake.lock);
    return ERR_NONE;
}

enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret)
{
    (void)tx;
    (void)building;
    (void)ret;
    pthread_mutex_lock(&fake.lock);
    fake.forwarded++;
    pthread_mutex_unlock(&fake.lock);
    return ERR_NONE;
}

enum err access_forwarded_late(struct tx *tx, const struct id *building, int64_t at_us, struct access_decision *ret)
{
    (void)at_us;
    return access_forwarded(tx, building, ret);
}

enum err call_record_get(struct tx *tx, const struct id *building, const struct id *id, struct recorded_call *ret)
{
    (void)tx, (void)building, (void)id, (void)ret;
    return ERR_NOT_FOUND;
}

enum err feed_decided(struct tx *tx, const struct call_arrival *call, enum feed_decision what,
                      const struct access_decision *d, enum access_reason reason)
{
    (void)tx, (void)call, (void)what, (void)d, (void)reason;
    return ERR_NONE;
}

enum err feed_steps(struct tx *tx, const struct call_arrival *call, const struct id *building, struct str steps)
{
    (void)tx, (void)call, (void)building, (void)steps;
    return ERR_NONE;
}

bool feed_tells(struct str steps)
{
    return steps.n > 0;
}

enum err feed_ended(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    (void)tx, (void)arrival, (void)end;
    return ERR_NONE;
}

enum err call_record_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    (void)tx;
    (void)arrival;
    if (!end->ended_us)
        return ERR_NONE;
    pthread_mutex_lock(&fake.lock);
    (void)snprintf(fake.steps, sizeof fake.steps, "%.*s", STR_ARG(end->steps));
    fake.ended_by = end->ended_by;
    fake.records++;
    pthread_mutex_unlock(&fake.lock);
    return ERR_NONE;
}

static struct store_task *fake_take(void)
{
    pthread_mutex_lock(&fake.lock);
    while ((!fake.first || fake.held) && !fake.stop)
        pthread_cond_wait(&fake.wake, &fake.lock);
    struct store_task *job = fake.first;
    if (job) {
        fake.first = job->next;
        if (!fake.first)
            fake.last = &fake.first;
    }
    pthread_mutex_unlock(&fake.lock);
    return job;
}

static void *fake_run(void *arg)
{
    (void)arg;
    struct store_task *job;
    while ((job = fake_take()))
        job->done(job, job->run(job, NULL));
    return NULL;
}

void store_submit(struct store *s, struct store_task *job)
{
    (void)s;
    job->next = NULL;
    pthread_mutex_lock(&fake.lock);
    *fake.last = job;
    fake.last = &job->next;
    pthread_cond_signal(&fake.wake);
    pthread_mutex_unlock(&fake.lock);
}

enum err store_run(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg)
{
    (void)s;
    (void)mode;
    return run(arg, NULL);
}

enum err store_run_urgent(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return store_run(s, STORE_WRITE, run, arg);
}

/* One of fake's counters, which the fake's thread writes. */
static inline int fake_count(const int *counter)
{
    pthread_mutex_lock(&fake.lock);
    int n = *counter;
    pthread_mutex_unlock(&fake.lock);
    return n;
}

static inline void fake_hold(bool held)
{
    pthread_mutex_lock(&fake.lock);
    fake.held = held;
    pthread_cond_signal(&fake.wake);
    pthread_mutex_unlock(&fake.lock);
}

static void fake_start(void)
{
    fake.last = &fake.first;
    fake.stop = false;
    fake.running = !pthread_create(&fake.thread, NULL, fake_run, NULL);
}

static void fake_stop(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.stop = true;
    pthread_cond_signal(&fake.wake);
    pthread_mutex_unlock(&fake.lock);
    if (fake.running)
        pthread_join(fake.thread, NULL);
    fake.running = false;
}

static void fake_reset(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.arrived = fake.opened = fake.right = fake.wrong = fake.forwarded = fake.code_count = fake.records = 0;
    memset(fake.codes, 0, sizeof fake.codes);
    fake.release = (struct release){.length_ms = 60, .gap_ms = 60, .repeat = 1};
    fake.welcome = NULL;
    pthread_mutex_unlock(&fake.lock);
}
