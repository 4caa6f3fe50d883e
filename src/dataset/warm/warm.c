/* Warming a data set on behalf of a caller who waits for it. */
#include <recmap/warm.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "dataset/open/dataset.h"
#include "dataset/warm/warming.h"

#define POLL_NS (UINT64_C(50) * 1000 * 1000)

/* Tells the caller how far it is. Returns false if it is to stop. */
static bool report(const recmap_warm_options *options, const struct warming_state *state) {
    recmap_progress progress = {.bytes_done = state->report.read_size + state->report.present_size,
                                .bytes_total = state->size};
    if (progress.bytes_total < progress.bytes_done) progress.bytes_total = progress.bytes_done;
    if (options->progress) return !options->progress(&progress, options->progress_context);
    return !thread_interrupt()->function || interrupt_ask(thread_interrupt());
}

static recmap_status wait(recmap_warm_report *result, struct warming *warming,
                          const recmap_warm_options *options, recmap_error *error) {
    bool is_over = false, continues = true;
    while (!is_over && continues) {
        is_over = warming_wait(warming, POLL_NS);
        struct warming_state state = warming_state(warming);
        continues = report(options, &state);
        *result = state.report;
    }
    return continues ? warming_raise(warming, error) : interrupt_fail(error);
}

recmap_status recmap_dataset_warm(recmap_warm_report *result, recmap_dataset *dataset,
                                  const recmap_warm_options *options, recmap_error *error) {
    static const recmap_warm_options defaults = RECMAP_WARM_OPTIONS_INIT;
    struct warming_options all = {.warm = options ? *options : defaults};
    struct warming *warming;
    *result = (recmap_warm_report){.end = RECMAP_WARM_COMPLETE};
    RETURN_IF_FAILED(warming_start(&warming, dataset, &all, error));
    recmap_status status = wait(result, warming, &all.warm, error);
    warming_destroy(warming);
    return status;
}
