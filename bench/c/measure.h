/* Measuring: a clock, samples of repeats, rows of the table. */
#ifndef RECMAP_BENCH_C_MEASURE_H
#define RECMAP_BENCH_C_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* Time on the clock, and time that this process (all its threads) or this thread was on a core. The
 * last two are what to compare by where others use the machine at the same time. */
uint64_t now_ns(void);
uint64_t process_cpu_ns(void);
uint64_t thread_cpu_ns(void);

/* Ends the program with the error's text unless `status` is OK. */
void must(recmap_status status, const recmap_error *error);

/* The number of repeats that the last argument of a program gives, or the default: 1 to
 * SAMPLES_MAX.
 */
int parse_repeats(const char *argument, int usual);

/* Ends the program for lack of memory. */
void *must_have(void *memory);

/* The figures of some repeats. */
enum { SAMPLES_MAX = 256 };
struct samples {
    double values[SAMPLES_MAX];
    size_t count;
};

void samples_add(struct samples *samples, double value);
double samples_median(const struct samples *samples); /* of at least one */

/* What a figure should be. */
enum goal_kind { GOAL_NONE, GOAL_AT_MAX, GOAL_AT_MIN };
struct goal {
    enum goal_kind kind;
    double value;
};
#define NO_GOAL ((struct goal){GOAL_NONE, 0})
#define AT_MAX(limit) ((struct goal){GOAL_AT_MAX, limit})
#define AT_MIN(limit) ((struct goal){GOAL_AT_MIN, limit})

/* Prints one row, its fields separated by tabs:
 *   question, unit, min, median, max, repeats, goal, "met" or "missed" (of the median) or "" */
void print_row(const struct samples *samples, const char *unit, struct goal goal,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with the quartiles instead of the min and the max: half of the repeats lie between. */
void print_quartiles(const struct samples *samples, const char *unit, struct goal goal,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
