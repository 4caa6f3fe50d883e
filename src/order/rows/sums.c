#include "order/rows/sums.h"

#include <stdbool.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/thread.h"

/* What a stretch counts as, for the interrupt: up to a few milliseconds. */
enum { STRETCH_WORK = INTERRUPT_WORK / 4 };

/* Threads take stretches of blocks from `next` until all are taken or one fails. */
struct sums_task {
    atomic_sum *sums;
    const struct sums_input *input;
    _Atomic(uint64_t) next;
    atomic_bool has_failed; /* then the first to set it owns `status` and `error` */
    recmap_status status;
    recmap_error *error;
};

/* Sizes are stored one place to the right: add_up turns them into sums. */
static recmap_status measure_stretch(struct sums_task *task, uint64_t first, recmap_error *error) {
    uint64_t sizes[SUMS_STRETCH];
    size_t count = (size_t)min_u64(task->input->stretch, task->input->block_count - first);
    if (task->input->scatter) {
        task->input->scatter(task->sums + 1, task->input->context, first, count);
        return RECMAP_OK;
    }
    RETURN_IF_FAILED(task->input->measure(sizes, task->input->context, first, count, error));
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&task->sums[first + i + 1], sizes[i], memory_order_release);
    return RECMAP_OK;
}

static void *measure_stretches(void *context) {
    struct sums_task *task = context;
    recmap_error error = RECMAP_ERROR_INIT;
    while (!atomic_load_explicit(&task->has_failed, memory_order_relaxed)) {
        uint64_t first = atomic_fetch_add(&task->next, task->input->stretch);
        if (first >= task->input->block_count) break;
        recmap_status status = measure_stretch(task, first, &error);
        /* Only the calling thread has something to ask. */
        if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), STRETCH_WORK, &error);
        if (status == RECMAP_OK || atomic_exchange(&task->has_failed, true)) continue;
        task->status = status;
        if (task->error) *task->error = error;
    }
    return NULL;
}

static void add_up(atomic_sum *sums, uint64_t block_count) {
    uint64_t sum = 0;
    atomic_store_explicit(&sums[0], 0, memory_order_release);
    for (uint64_t i = 1; i <= block_count; i++) {
        uint64_t size = sums_at(sums, i);
        /* Sums must ascend whatever the sizes are. */
        sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
        atomic_store_explicit(&sums[i], sum, memory_order_release);
    }
}

/* For fewer stretches than this, starting threads would cost more than it saves. */
enum { STRETCHES_MIN = 16 };

recmap_status sums_compute(atomic_sum *sums, const struct sums_input *input, recmap_error *error) {
    struct sums_task task = {.sums = sums, .input = input, .error = error};
    uint64_t stretches = input->block_count / input->stretch;
    unsigned extra = stretches < STRETCHES_MIN ? 0 : core_count() - 1;
    struct worker_group group = WORKER_GROUP_INIT;
    for (uint64_t i = 0; input->scatter && i <= input->block_count; i++)
        atomic_store_explicit(&sums[i], 0, memory_order_release);
    /* If no thread can be started, this one does all the work. */
    if (extra) workers_start(&group, extra, measure_stretches, &task, NULL);
    measure_stretches(&task);
    workers_join(&group);
    if (task.status == RECMAP_OK) add_up(sums, input->block_count);
    return task.status;
}

/* Written out because every row is looked up with it: with search_first, it took a tenth longer. */
uint64_t sums_find(const atomic_sum *sums, uint64_t block_count, uint64_t offset) {
    uint64_t low = 0, high = block_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (sums_at(sums, middle) <= offset) low = middle;
        else high = middle;
    }
    return low;
}
