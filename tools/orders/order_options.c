#include "orders/order_options.h"

#include <inttypes.h>
#include <string.h>

static unsigned bit(int option) {
    return 1U << (option - OPTION_SHUFFLE);
}

void order_options_init(struct order_options *options) {
    *options = (struct order_options){.count = UINT64_MAX, .world_size = 1, .batch_size = 1};
}

static uint64_t *number_field(struct order_options *options, int option) {
    switch (option) {
    case OPTION_SEED: return &options->seed;
    case OPTION_EPOCH: return &options->epoch;
    case OPTION_FROM: return &options->from;
    case OPTION_COUNT: return &options->count;
    case OPTION_RANK: return &options->rank;
    case OPTION_WORLD_SIZE: return &options->world_size;
    case OPTION_STEP: return &options->step;
    default: return &options->batch_size;
    }
}

int order_options_set(struct order_options *options, const struct args *args, int option) {
    options->given |= bit(option);
    if (option == OPTION_SHUFFLE) return 0;
    if (option == OPTION_LAST) {
        options->last = (recmap_last)args->choice;
        return 0;
    }
    uint64_t limit = option == OPTION_RANK || option == OPTION_WORLD_SIZE ? UINT32_MAX : UINT64_MAX;
    return args_option_number(args, limit, number_field(options, option));
}

bool order_options_is_shuffled(const struct order_options *options) {
    return options->given & bit(OPTION_SHUFFLE);
}

bool order_options_has_ranks(const struct order_options *options) {
    return options->given & bit(OPTION_RANK);
}

bool order_options_has_step(const struct order_options *options) {
    return options->given & bit(OPTION_STEP);
}

bool order_options_has_start(const struct order_options *options) {
    return options->given &
           (bit(OPTION_SHUFFLE) | bit(OPTION_SEED) | bit(OPTION_EPOCH) | bit(OPTION_FROM));
}

bool order_options_has_part(const struct order_options *options) {
    return options->given & ~(bit(OPTION_SHUFFLE) | bit(OPTION_SEED) | bit(OPTION_EPOCH));
}

/* Of a step, all ranks can be shown. */
static int check_ranks(const struct order_options *options, const struct args *args) {
    const unsigned world = bit(OPTION_WORLD_SIZE) | bit(OPTION_BATCH_SIZE);
    const unsigned ranks = world | bit(OPTION_RANK), given = options->given;
    if (given & bit(OPTION_STEP) && (given & world) != world)
        return args_usage_error(args, "--step requires --world-size and --batch-size");
    if (given & bit(OPTION_STEP) && given & bit(OPTION_COUNT))
        return args_usage_error(args, "--step and --count cannot be combined");
    if (!(given & bit(OPTION_STEP)) && given & ranks && (given & ranks) != ranks)
        return args_usage_error(args,
                                "--rank, --world-size and --batch-size must be given together");
    if (given & bit(OPTION_LAST) && !(given & ranks))
        return args_usage_error(args, "--last requires --rank, --world-size and --batch-size");
    return 0;
}

int order_options_check(const struct order_options *options, bool has_rows,
                        const struct args *args) {
    const unsigned given = options->given;
    if (has_rows && order_options_is_shuffled(options))
        return args_usage_error(args, "--shuffle is for records: rows are always shuffled");
    if (!has_rows && !(given & bit(OPTION_SHUFFLE)) &&
        given & (bit(OPTION_SEED) | bit(OPTION_EPOCH)))
        return args_usage_error(args, "%s requires --shuffle",
                                given & bit(OPTION_SEED) ? "--seed" : "--epoch");
    int exit_status = check_ranks(options, args);
    if (exit_status) return exit_status;
    if (!options->world_size) return args_usage_error(args, "--world-size must be at least 1");
    if (!options->batch_size) return args_usage_error(args, "--batch-size must be at least 1");
    if (options->rank >= options->world_size)
        return args_usage_error(
            args, "--rank must be less than --world-size, not %" PRIu64 " of %" PRIu64,
            options->rank, options->world_size);
    return 0;
}

recmap_status order_options_create_order(recmap_order **order, const struct order_options *options,
                                         uint64_t record_count, recmap_error *error) {
    if (order_options_is_shuffled(options))
        return recmap_order_shuffled(order, record_count, options->seed, error);
    return recmap_order_sequential(order, record_count, error);
}
