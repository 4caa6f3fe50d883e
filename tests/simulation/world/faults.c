#include "simulation/world/faults.h"

#include <errno.h>
#include <string.h>

#include "simulation/world/process.h"
#include "simulation/world/random.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

static struct fault_plan plan;
static struct random_stream choices;
static uint64_t call_count, allocation_count;
static uint64_t refused_allocation;
static bool has_paused;

void faults_init(const struct fault_plan *new_plan) {
    plan = *new_plan;
    choices = random_stream(plan.seed, 3);
    refused_allocation = plan.refuses_memory ? random_scale(&choices, 20000) : 0;
}

void faults_pause(bool is_paused) {
    has_paused = is_paused;
}

static bool is_chosen(const char *call) {
    if (plan.only && strcmp(plan.only, call)) return false;
    call_count++;
    for (unsigned i = 0; i < plan.count; i++)
        if (plan.places[i] == call_count && !plan.is_left_out[i]) return true;
    return false;
}

static void note(const char *call, int code) {
    process_current()->was_disturbed = true;
    report->fault_count++;
    trace("%s fails: %s", call, strerror(code));
    errno = code;
}

bool faults_hit(const char *call, int code) {
    schedule_point();
    if (has_paused || !process_current()) return false;
    if (plan.is_late && random_once_in(&choices, 64))
        schedule_wait(WAIT_OTHERS, NULL, schedule_now() + random_scale(&choices, 100000000));
    if (!is_chosen(call)) return false;
    note(call, code);
    return true;
}

void faults_note_full(const char *call) {
    note(call, ENOSPC);
}

size_t faults_cut(size_t size) {
    return (size_t)random_below(&choices, size);
}

size_t faults_shorten(size_t size) {
    if (has_paused || !plan.is_short || size < 2 || !random_once_in(&choices, 16)) return size;
    return (size_t)random_between(&choices, 1, size - 1);
}

bool faults_refuse_memory(void) {
    if (has_paused || !refused_allocation || !process_current()) return false;
    if (++allocation_count != refused_allocation) return false;
    note("an allocation", ENOMEM);
    return true;
}
