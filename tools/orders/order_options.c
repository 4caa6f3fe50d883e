#include "orders/order_options.h"

#include <inttypes.h>
#include <string.h>

enum { SHUFFLE = ORDER_OPTIONS_FIRST, SEED, EPOCH, FROM, COUNT, RANK, WORLD, BATCH, LAST };

static const struct option rows[] = {
    {"shuffle", no_argument, NULL, SHUFFLE},        {"seed", required_argument, NULL, SEED},
    {"epoch", required_argument, NULL, EPOCH},      {"from", required_argument, NULL, FROM},
    {"count", required_argument, NULL, COUNT},      {"rank", required_argument, NULL, RANK},
    {"world-size", required_argument, NULL, WORLD}, {"batch-size", required_argument, NULL, BATCH},
    {"last", required_argument, NULL, LAST},        {NULL, 0, NULL, 0}};

static unsigned bit(int option) {
    return 1U << (option - SHUFFLE);
}

void order_options_init(struct order_options *options, struct args *args) {
    *options = (struct order_options){.count = UINT64_MAX, .world_size = 1, .batch_size = 1};
    args_add(args, rows);
}

static bool parse_last(recmap_last *last, const char *name) {
    if (!strcmp(name, "keep")) *last = RECMAP_LAST_KEEP;
    else if (!strcmp(name, "drop")) *last = RECMAP_LAST_DROP;
    else if (!strcmp(name, "pad")) *last = RECMAP_LAST_PAD;
    else return false;
    return true;
}

static uint64_t *number_field(struct order_options *options, int option) {
    switch (option) {
    case SEED: return &options->seed;
    case EPOCH: return &options->epoch;
    case FROM: return &options->from;
    case COUNT: return &options->count;
    case RANK: return &options->rank;
    case WORLD: return &options->world_size;
    default: return &options->batch_size;
    }
}

int order_options_set(struct order_options *options, const struct args *args, int option) {
    options->given |= bit(option);
    if (option == SHUFFLE) return 0;
    if (option == LAST) {
        if (parse_last(&options->last, optarg)) return 0;
        return args_usage_error(args, "invalid --last '%s': use keep, drop or pad", optarg);
    }
    char name[16] = "--";
    strncat(name, rows[option - SHUFFLE].name, sizeof name - 3);
    uint64_t limit = option == RANK || option == WORLD ? UINT32_MAX : UINT64_MAX;
    return args_number(args, name, optarg, limit, number_field(options, option)) ? 0 : 2;
}

bool order_options_is_shuffled(const struct order_options *options) {
    return options->given & bit(SHUFFLE);
}

bool order_options_has_ranks(const struct order_options *options) {
    return options->given & bit(RANK);
}

bool order_options_has_part(const struct order_options *options) {
    return options->given & ~(bit(SHUFFLE) | bit(SEED) | bit(EPOCH));
}

int order_options_check(const struct order_options *options, bool has_rows,
                        const struct args *args) {
    const unsigned ranks = bit(RANK) | bit(WORLD) | bit(BATCH);
    const unsigned given = options->given;
    if (has_rows && order_options_is_shuffled(options))
        return args_usage_error(args, "--shuffle is for records: rows are always shuffled");
    if (!has_rows && !(given & bit(SHUFFLE)) && given & (bit(SEED) | bit(EPOCH)))
        return args_usage_error(args, "%s requires --shuffle",
                                given & bit(SEED) ? "--seed" : "--epoch");
    if (given & ranks && (given & ranks) != ranks)
        return args_usage_error(args,
                                "--rank, --world-size and --batch-size must be given together");
    if (given & bit(LAST) && !(given & ranks))
        return args_usage_error(args, "--last requires --rank, --world-size and --batch-size");
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
