#include "base/os/activity.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/process.h"

/* Reading this long may have waited for a device. Shorter, asking the kernel would cost more than
 * the answer is worth. */
enum { QUICK_NS = 1000000 };

static _Thread_local struct activity *current;

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
    activity->waits = thread_get_waits();
    pthread_mutex_unlock(&activity->lock);
}

static void add(struct activity *activity, enum activity_stage stage, uint64_t now) {
    activity->job_ns[stage] += now - activity->since_ns;
    activity->total_ns[stage] += now - activity->since_ns;
    activity->since_ns = now;
}

/* Which stage the time counts for: reading that never slept did not wait for a device. */
static enum activity_stage stage_of_time(struct activity *activity, uint64_t now) {
    if (activity->stage != ACTIVITY_DISK) return activity->stage;
    if (now - activity->since_ns < QUICK_NS) return ACTIVITY_PARSE;
    struct thread_waits waits = thread_get_waits();
    bool has_slept = waits.sleeps != activity->waits.sleeps;
    activity->waits = waits;
    return has_slept ? ACTIVITY_DISK : ACTIVITY_PARSE;
}

void activity_begin(uint64_t job) {
    struct activity *activity = current;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    activity->job = job;
    memset(activity->job_ns, 0, sizeof activity->job_ns);
    pthread_mutex_unlock(&activity->lock);
}

enum activity_stage activity_enter(enum activity_stage stage) {
    struct activity *activity = current;
    if (!activity) return ACTIVITY_IDLE;
    pthread_mutex_lock(&activity->lock);
    uint64_t now = clock_ns();
    enum activity_stage former = activity->stage;
    add(activity, stage_of_time(activity, now), now);
    activity->stage = stage;
    pthread_mutex_unlock(&activity->lock);
    return former;
}

void activity_leave(enum activity_stage former) {
    activity_enter(former);
}

void activity_set_request(const struct activity_request *request) {
    struct activity *activity = current;
    if (!activity) return;
    pthread_mutex_lock(&activity->lock);
    activity->request = request ? *request : (struct activity_request){.name = ""};
    pthread_mutex_unlock(&activity->lock);
}

/* Returns true if the thread runs, or would run if it had a CPU. */
static bool is_runnable(long thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    FILE *stream = fopen(path, "re");
    if (!stream) return false;
    size_t size = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[size] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

void activity_copy(struct activity *copy, struct activity *activity) {
    pthread_mutex_lock(&activity->lock);
    *copy = *activity;
    pthread_mutex_unlock(&activity->lock);
    if (!copy->thread) return;
    if (copy->stage == ACTIVITY_DISK && is_runnable(copy->thread)) copy->stage = ACTIVITY_PARSE;
    uint64_t now = clock_ns();
    if (now > copy->since_ns) add(copy, copy->stage, now);
}
