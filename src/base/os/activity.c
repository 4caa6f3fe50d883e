#include "base/os/activity.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/core/bytes.h"
#include "base/os/process.h"

/* A stage of this length may have waited for a device, and a longer wait for another thread must
 * not count for the stage that follows. Shorter, asking the kernel would cost more than the answer
 * is worth. */
enum { LONG_NS = 1000000, LONG_WAIT_NS = 20000, LONG_PAUSE_NS = 100000 };

static _Thread_local struct activity *current;

/* ---- What the thread itself waited for. Only it changes its looks, so it reads them without the
 * lock. */

/* Asking how long a thread has slept is needed only if it did. */
static struct activity_look look_again(const struct activity_look *former, uint64_t now) {
    struct activity_look look = {now, former->slept_ns, thread_get_waits()};
    if (look.waits.sleeps != former->waits.sleeps) look.slept_ns = thread_get_slept_ns();
    return look;
}

/* ---- Which cause time counts for. */

static bool reads_files(enum activity_stage stage) {
    return stage == ACTIVITY_DISK || stage == ACTIVITY_INFLATE;
}

static bool only_waits(enum activity_stage stage) {
    return stage == ACTIVITY_STORE || stage == ACTIVITY_FOLLOW || stage == ACTIVITY_LOCKED;
}

static void add(struct activity *activity, enum activity_stage stage, uint64_t ns) {
    activity->job_ns[stage] += ns;
    activity->total_ns[stage] += ns;
}

/* Ends the time of the present stage, in which the thread waited `disk_ns` for a device. */
static void add_time(struct activity *activity, uint64_t now, uint64_t disk_ns) {
    uint64_t spent_ns = now > activity->since_ns ? now - activity->since_ns : 0;
    enum activity_stage stage = activity->stage == ACTIVITY_DISK ? ACTIVITY_PARSE : activity->stage;
    disk_ns = min_u64(disk_ns, spent_ns);
    add(activity, ACTIVITY_DISK, disk_ns);
    add(activity, stage, spent_ns - disk_ns);
    activity->since_ns = now;
}

/* ---- The thread's own calls. */

void activity_init(struct activity *activity) {
    *activity = (struct activity){.stage = ACTIVITY_IDLE};
    pthread_mutex_init(&activity->lock, NULL);
}

void activity_deinit(struct activity *activity) {
    pthread_mutex_destroy(&activity->lock);
}

void activity_attach(struct activity *activity) {
    current = activity;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    activity->thread = syscall(SYS_gettid);
    activity->stage = ACTIVITY_IDLE;
    activity->since_ns = clock_ns();
    activity->look =
        (struct activity_look){activity->since_ns, thread_get_slept_ns(), thread_get_waits()};
    pthread_mutex_unlock(&activity->lock);
}

/* The thread may have slept before the job, without work: a look makes sure that this does not
 * count for what the job reads. */
void activity_begin(uint64_t job) {
    struct activity *activity = current;
    if (!activity) return;
    uint64_t now = clock_ns();
    struct activity_look look = activity->look;
    if (now - look.time_ns >= LONG_PAUSE_NS) look = look_again(&look, now);
    pthread_mutex_lock(&activity->lock);
    activity->look = look;
    activity->job = job;
    memset(activity->job_ns, 0, sizeof activity->job_ns);
    pthread_mutex_unlock(&activity->lock);
}

/* Returns true if the thread may have waited in the stage for long enough to look. */
static bool must_look(const struct activity *activity, uint64_t now) {
    if (activity->stage == ACTIVITY_IDLE) return false; /* activity_begin looks */
    return now - activity->since_ns >= (only_waits(activity->stage) ? LONG_WAIT_NS : LONG_NS);
}

/* How much of the time between two looks the thread waited for a device. */
static uint64_t find_disk_ns(enum activity_stage stage, const struct activity_look *former,
                             const struct activity_look *look) {
    bool has_faults = look->waits.faults != former->waits.faults;
    bool is_disk = reads_files(stage) || (has_faults && !only_waits(stage));
    return is_disk ? look->slept_ns - former->slept_ns : 0;
}

enum activity_stage activity_enter(enum activity_stage stage) {
    struct activity *activity = current;
    if (!activity) return ACTIVITY_IDLE;
    uint64_t now = clock_ns();
    enum activity_stage former = activity->stage;
    struct activity_look look = activity->look;
    if (must_look(activity, now)) look = look_again(&look, now);
    pthread_mutex_lock(&activity->lock);
    add_time(activity, now, find_disk_ns(former, &activity->look, &look));
    activity->look = look;
    activity->stage = stage;
    pthread_mutex_unlock(&activity->lock);
    return former;
}

void activity_leave(enum activity_stage former) {
    activity_enter(former);
}

/* Only the name is cleared: this is called for each read of a file. */
static void clear_request(struct activity *activity) {
    activity->request.name[0] = 0;
}

void activity_set_request(const struct activity_request *request) {
    struct activity *activity = current;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    if (request) activity->request = *request;
    else clear_request(activity);
    pthread_mutex_unlock(&activity->lock);
}

void activity_request_fill(struct activity_request *request, const char *name, uint64_t first_byte,
                           uint64_t size) {
    size_t length = strlen(name), kept = length;
    if (kept > sizeof request->name - 1) kept = sizeof request->name - 1;
    memcpy(request->name, name + length - kept, kept);
    request->name[kept] = 0;
    request->first_byte = first_byte;
    request->last_byte = first_byte + size - !!size;
    request->attempt = 1;
    request->error[0] = 0;
}

void activity_begin_read(const char *name, uint64_t first_byte, uint64_t size) {
    struct activity *activity = current;
    if (!activity) return;
    uint64_t now = clock_ns();
    pthread_mutex_lock(&activity->lock);
    activity_request_fill(&activity->request, name, first_byte, size);
    activity->request.started_ns = now;
    pthread_mutex_unlock(&activity->lock);
}

void activity_end_read(void) {
    struct activity *activity = current;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    clear_request(activity);
    pthread_mutex_unlock(&activity->lock);
}

void activity_set_pages(activity_describe *describe, const void *context) {
    struct activity *activity = current;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    activity->describe = describe;
    activity->context = context;
    pthread_mutex_unlock(&activity->lock);
}

/* ---- Calls of other threads. */

/* Fills in what the thread touches of mapped files. The caller holds the lock, so that what is
 * described lives. */
static void describe_pages(struct activity *copy) {
    if (copy->request.name[0] || !copy->describe || copy->stage != ACTIVITY_DISK) return;
    if (!copy->describe(&copy->request, copy->context)) clear_request(copy);
    copy->request.started_ns = copy->since_ns;
}

/* How long a thread has waited for a device in its present stage. While it runs, nothing is known,
 * and the time counts for the stage. If the kernel does not say how long it slept, all of it does.
 */
static uint64_t find_disk_ns_of(const struct activity *copy) {
    uint64_t slept_ns;
    if (!reads_files(copy->stage) || thread_is_runnable(copy->thread)) return 0;
    if (!thread_find_slept_ns(&slept_ns, copy->thread)) return UINT64_MAX;
    return slept_ns > copy->look.slept_ns ? slept_ns - copy->look.slept_ns : 0;
}

void activity_copy(struct activity *copy, struct activity *activity) {
    pthread_mutex_lock(&activity->lock);
    *copy = *activity;
    describe_pages(copy);
    pthread_mutex_unlock(&activity->lock);
    if (!copy->thread) return;
    uint64_t disk_ns = find_disk_ns_of(copy);
    if (reads_files(copy->stage) && !disk_ns) clear_request(copy);
    add_time(copy, clock_ns(), disk_ns);
}
