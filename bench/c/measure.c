#include "measure.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t process_cpu_ns(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_cpu_ns(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void must(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK) exit(recmap_error_print(error, stderr));
}

void *must_have(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "bench: out of memory\n");
    exit(4);
}

int parse_repeats(const char *argument, int usual) {
    long repeats = argument ? strtol(argument, NULL, 10) : usual;
    return repeats < 1 ? 1 : repeats > SAMPLES_MAX ? SAMPLES_MAX : (int)repeats;
}

void samples_add(struct samples *samples, double value) {
    if (samples->count < SAMPLES_MAX) samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_samples(double sorted[SAMPLES_MAX], const struct samples *samples) {
    memcpy(sorted, samples->values, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, compare);
}

double samples_median(const struct samples *samples) {
    double sorted[SAMPLES_MAX];
    sort_samples(sorted, samples);
    return (sorted[(samples->count - 1) / 2] + sorted[samples->count / 2]) / 2;
}

static void print_goal(struct goal goal, double median) {
    if (goal.kind == GOAL_NONE) {
        printf("\t\t\n");
        return;
    }
    bool is_met = goal.kind == GOAL_AT_MAX ? median <= goal.value : median >= goal.value;
    printf("\t%s %.4g\t%s\n", goal.kind == GOAL_AT_MAX ? "<=" : ">=", goal.value,
           is_met ? "met" : "missed");
}

/* Prints a row whose range leaves out a share of the samples at each end. */
static void print_range(const struct samples *samples, double left_out, const char *unit,
                        struct goal goal, const char *format, va_list arguments) {
    if (!samples->count) return;
    double sorted[SAMPLES_MAX], median = samples_median(samples);
    size_t first = (size_t)((double)(samples->count - 1) * left_out);
    sort_samples(sorted, samples);
    vprintf(format, arguments);
    printf("\t%s\t%.4g\t%.4g\t%.4g\t%zu", unit, sorted[first], median,
           sorted[samples->count - 1 - first], samples->count);
    print_goal(goal, median);
    fflush(stdout);
}

void print_row(const struct samples *samples, const char *unit, struct goal goal,
               const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_range(samples, 0, unit, goal, format, arguments);
    va_end(arguments);
}

void print_quartiles(const struct samples *samples, const char *unit, struct goal goal,
                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_range(samples, 0.25, unit, goal, format, arguments);
    va_end(arguments);
}
