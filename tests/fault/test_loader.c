/* Loaders and states when calls fail: each allocation and each read in turn, either once or from
 * then on. Each failure is reported for the call where it happens, repeating the call continues the
 * same stream, and nothing leaks. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum { BATCH = 7, TRIES = 4 };

static struct fixture data;

/* An iteration through an epoch, in which calls may fail. */
struct iteration {
    recmap_dataset_options reading;
    recmap_status allowed; /* what may come of the calls that fail */
    bool is_sticky;
    bool is_over; /* a call failed for good */
};

/* Returns true if a call is to be made again. What may not come of it is in `wrong`. */
static bool tries_again(struct iteration *iteration, recmap_status status,
                        const recmap_error *error, const char **problem) {
    if (status == RECMAP_OK) return false;
    if (status != iteration->allowed || error->status != status || !error->message[0])
        *problem = case_says("%s: %s", recmap_status_name(status), error->message);
    iteration->is_over = iteration->is_sticky || *problem;
    return !iteration->is_over;
}

/* Makes a call up to TRIES times: one failure must not be followed by another. */
#define CALL(at, wrong, call)                                                                      \
    do {                                                                                           \
        recmap_error error = RECMAP_ERROR_INIT;                                                    \
        int tries = 0;                                                                             \
        while (tries_again(at, call, &error, &(wrong)) && !(wrong))                                \
            if (++tries == TRIES) (wrong) = case_says("%s fails again: %s", #call, error.message); \
        if ((wrong)) (at)->is_over = true;                                                         \
    } while (0)

static const char *check_batch(const recmap_batch *batch, const recmap_order *order,
                               uint64_t position) {
    if (!batch || !recmap_batch_count(batch)) return "a batch is missing";
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        uint64_t at = position + i, number;
        if (recmap_order_at(&number, order, 0, &at, 1, NULL) != RECMAP_OK) return "no order";
        if (!payload_holds(&recmap_batch_records(batch)[i], number)) return "another record";
    }
    return NULL;
}

/* Half of the epoch, a checkpoint, the rest. */
static const char *step(struct iteration *iteration, recmap_loader *loader,
                        const recmap_order *order, uint64_t *position, recmap_batch **batch) {
    const char *wrong = NULL;
    CALL(iteration, wrong, recmap_loader_next(batch, loader, &error));
    if (iteration->is_over || wrong) return wrong;
    wrong = check_batch(*batch, order, *position);
    *position += BATCH;
    return wrong;
}

/* The first state of docs/formats/vectors/states.txt, at position 640. */
static const char state_bytes[] = "\x08\x01\x12\x10\x01\x12\x23\x34\x45\x56\x67\x78\x89\x9a\xab\xbc"
                                  "\xcd\xde\xef\x00\x18\x85\x0e\x20"
                                  "\x85\x0e\x2a%{\"kind\":\"shuffled\",\"n\":1797,\"seed\":7}"
                                  "8\x80\x05\x41\x17\x10\x83\x1d\x2d\xc8\x9f\x50";

/* Saves the loader's state as JSON and reads it back, and another state from bytes. A call that
 * fails is repeated, and the state must still match the position. */
static const char *check_point(struct iteration *iteration, recmap_loader *loader,
                               uint64_t position) {
    const char *wrong = NULL;
    recmap_state *state = NULL, *from_bytes = NULL, *from_json = NULL;
    recmap_text json = RECMAP_TEXT_INIT;
    CALL(iteration, wrong, recmap_loader_save(&state, loader, &error));
    if (!iteration->is_over) CALL(iteration, wrong, recmap_state_to_json(&json, state, &error));
    if (!iteration->is_over)
        CALL(iteration, wrong,
             recmap_state_from_bytes(&from_bytes, state_bytes, sizeof state_bytes - 1, &error));
    if (!iteration->is_over)
        CALL(iteration, wrong, recmap_state_from_json(&from_json, json.data, json.size, &error));
    if (!iteration->is_over && (recmap_state_get_info(from_bytes)->position != 640 ||
                                recmap_state_get_info(from_json)->position != position))
        wrong = "another state";
    if (!iteration->is_over) CALL(iteration, wrong, recmap_loader_load(loader, from_json, &error));
    recmap_text_deinit(&json);
    recmap_state_destroy(state);
    recmap_state_destroy(from_bytes);
    recmap_state_destroy(from_json);
    return wrong;
}

static const char *iterate_epoch(struct iteration *iteration, recmap_loader *loader,
                                 const recmap_order *order) {
    recmap_batch *batch = NULL;
    const char *wrong = NULL;
    uint64_t position = 0;
    while (!wrong && !iteration->is_over && position < FIXTURE_RECORDS / 2)
        wrong = step(iteration, loader, order, &position, &batch);
    if (!wrong && !iteration->is_over) wrong = check_point(iteration, loader, position);
    while (!wrong && !iteration->is_over && position < FIXTURE_RECORDS)
        wrong = step(iteration, loader, order, &position, &batch);
    recmap_batch_destroy(batch);
    return wrong;
}

static const char *run_iteration(struct iteration *iteration) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    const char *wrong = NULL;
    options.batch_size = BATCH;
    options.thread_count = 2;
    CALL(iteration, wrong, recmap_dataset_open(&dataset, data.index, &iteration->reading, &error));
    if (!iteration->is_over)
        CALL(iteration, wrong, recmap_order_shuffled(&order, FIXTURE_RECORDS, 5, &error));
    if (!iteration->is_over)
        CALL(iteration, wrong, recmap_loader_create(&loader, dataset, order, &options, &error));
    if (!iteration->is_over) wrong = iterate_epoch(iteration, loader, order);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return wrong;
}

/* One kind of fault, over all calls of a kind. */
struct sweep {
    recmap_access access;
    unsigned kinds;
    int code;
    recmap_status allowed;
};

static struct iteration iteration_of(const struct sweep *sweep, bool is_sticky) {
    struct iteration made = {RECMAP_DATASET_OPTIONS_INIT, sweep->allowed, is_sticky, false};
    made.reading.access = sweep->access;
    return made;
}

static const char *run_case(void *context, size_t number) {
    const struct sweep *sweep = context;
    struct iteration at = iteration_of(sweep, number % 2);
    struct call_plan plan = {.kinds = sweep->kinds,
                             .at = number / 2 + 1,
                             .is_sticky = number % 2,
                             .fault = FAULT_ERRNO,
                             .code = sweep->code};
    struct holdings before = holdings_now();
    interpose_start(&plan);
    const char *wrong = run_iteration(&at);
    interpose_stop();
    if (!wrong) wrong = holdings_check(&before);
    if (!wrong) return NULL;
    char text[1024];
    snprintf(text, sizeof text, "%s", wrong);
    return case_says("call %zu%s: %s", number / 2 + 1, at.is_sticky ? " and all after" : "", text);
}

static void run_sweep(const char *name, struct sweep swept) {
    if (test_is_sanitized()) {
        print_message("skipped: a sanitizer bears no shortage of memory when a thread starts\n");
        skip();
    }
    struct call_plan plan = {.kinds = swept.kinds};
    uint64_t count = 0;
    /* Twice, as the first time what stays for good is allocated too. */
    for (int i = 0; i < 2; i++) {
        struct iteration at = iteration_of(&swept, true);
        interpose_start(&plan);
        const char *wrong = run_iteration(&at);
        count = interpose_stop();
        if (wrong) printf("%s\n", wrong);
        require(!wrong && !at.is_over, "the iteration without faults");
    }
    assert_true(count > 5);
    assert_int_equal(cases_run(name, 2 * count, test_is_long() ? 1 : 3, run_case, &swept), 0);
}

static void test_loaders_survive_failed_allocations(void **state) {
    (void)state;
    unsigned kinds = CALL_BIT(CALL_ALLOCATE);
    run_sweep("loader, memory, map",
              (struct sweep){RECMAP_ACCESS_MAP, kinds, ENOMEM, RECMAP_NO_MEMORY});
    run_sweep("loader, memory, pread",
              (struct sweep){RECMAP_ACCESS_READ, kinds, ENOMEM, RECMAP_NO_MEMORY});
    run_sweep("loader, memory, direct",
              (struct sweep){RECMAP_ACCESS_DIRECT, kinds, ENOMEM, RECMAP_NO_MEMORY});
}

static void test_loaders_survive_failed_reads(void **state) {
    (void)state;
    run_sweep("loader, reads",
              (struct sweep){RECMAP_ACCESS_READ, CALL_BIT(CALL_READ), EIO, RECMAP_IO});
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    return fixture_rebuild(&data, 1, NULL) != RECMAP_OK;
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaders_survive_failed_allocations),
        cmocka_unit_test(test_loaders_survive_failed_reads),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
