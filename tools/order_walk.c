#include "order_walk.h"

/* What is computed at once. */
enum { PRINT_NUMBERS = 1024 };

static recmap_deal_options deal_options(const order_options *options, uint64_t record_count) {
    recmap_deal_options made = RECMAP_DEAL_OPTIONS_INIT;
    if (!order_options_has_ranks(options)) {
        /* All that is left is one step. */
        made.batch_size = record_count ? record_count : 1;
        return made;
    }
    made.world_size = (uint32_t)options->world_size;
    made.batch_size = options->batch_size;
    made.last = options->last;
    return made;
}

/* All steps but the last one are full. */
static recmap_status count_numbers(uint64_t *count, const order_walk *walk, recmap_error *error) {
    const recmap_deal *deal = &walk->deal;
    if (!deal->step_count) {
        *count = 0;
        return RECMAP_OK;
    }
    recmap_share last;
    recmap_status status = recmap_deal_share(&last, deal, deal->step_count - 1, walk->rank, error);
    if (status != RECMAP_OK) return status;
    *count = (deal->step_count - 1) * deal->options.batch_size + last.count;
    return RECMAP_OK;
}

static recmap_status begin(order_walk *walk, const order_options *options, uint64_t record_count,
                           recmap_error *error) {
    recmap_deal_options dealing = deal_options(options, record_count);
    recmap_status status = order_options_order(&walk->order, options, record_count, error);
    if (status == RECMAP_OK)
        status = recmap_deal_init(&walk->deal, walk->order, options->epoch, options->from, &dealing,
                                  error);
    if (status == RECMAP_OK) status = count_numbers(&walk->left, walk, error);
    if (status == RECMAP_OK && walk->left > options->count) walk->left = options->count;
    return status;
}

int order_walk_begin(order_walk *walk, const order_options *options, uint64_t record_count,
                     const tool_args *args) {
    if (options->from > record_count)
        return args_wrong(args, "--from is at most %llu, the number of records, not %llu",
                          (unsigned long long)record_count, (unsigned long long)options->from);
    order_walk made = {.rank = (uint32_t)options->rank};
    recmap_error error = RECMAP_ERROR_INIT;
    if (begin(&made, options, record_count, &error) != RECMAP_OK) {
        order_walk_end(&made);
        return recmap_error_print(&error, stderr);
    }
    *walk = made;
    return 0;
}

void order_walk_end(order_walk *walk) {
    recmap_order_release(walk->order);
    walk->order = NULL;
}

/* Takes from the share until it is used up, then from the next step's. */
recmap_status order_walk_next(void *context, uint64_t *numbers, size_t count, recmap_error *error) {
    order_walk *walk = context;
    for (size_t done = 0; done < count;) {
        recmap_status status;
        if (!walk->share.count) {
            status = recmap_deal_share(&walk->share, &walk->deal, walk->step++, walk->rank, error);
            if (status != RECMAP_OK) return status;
            continue;
        }
        recmap_share here = walk->share;
        if (here.count > count - done) here.count = count - done;
        status = recmap_deal_numbers(numbers + done, &walk->deal, &here, error);
        if (status != RECMAP_OK) return status;
        done += here.count;
        walk->share.first += here.count;
        walk->share.count -= here.count;
    }
    walk->left -= count;
    return RECMAP_OK;
}

recmap_status order_walk_print(order_walk *walk, tool_output *output, recmap_error *error) {
    while (walk->left) {
        uint64_t numbers[PRINT_NUMBERS];
        size_t count = walk->left < PRINT_NUMBERS ? (size_t)walk->left : PRINT_NUMBERS;
        recmap_status status = order_walk_next(walk, numbers, count, error);
        for (size_t i = 0; i < count && status == RECMAP_OK; i++) {
            recmap_record record = {.number = numbers[i]};
            status = output_write(output, &record, error);
        }
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}
