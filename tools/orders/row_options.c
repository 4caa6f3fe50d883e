#include "orders/row_options.h"

#include <stdio.h>
#include <string.h>

#include "terminal/message.h"

static unsigned bit(int option) {
    return 1U << (option - OPTION_CHUNKED);
}

void row_options_init(struct row_options *options) {
    *options = (struct row_options){
        .chunked = RECMAP_CHUNKED_OPTIONS_INIT,
        .packed = RECMAP_PACKED_OPTIONS_INIT,
        .windows = RECMAP_WINDOWS_OPTIONS_INIT,
    };
}

bool row_options_has(int option) {
    return option >= OPTION_CHUNKED && option <= OPTION_PAD;
}

bool row_options_has_rows(const struct row_options *options) {
    return options->given & (bit(OPTION_CHUNKED) | bit(OPTION_PACKED) | bit(OPTION_WINDOWS));
}

void row_options_choose(struct row_options *options, int option, uint64_t size) {
    options->given |= bit(option);
    options->chunked.size = options->packed.size = options->windows.size = size;
}

/* Parses BEFORE,AFTER. */
static int set_pad(struct row_options *options, const struct args *args) {
    char before[32];
    const char *comma = strchr(optarg, ',');
    if (!comma || (size_t)(comma - optarg) >= sizeof before)
        return args_usage_error(args, "--pad must be two numbers, as in 2,0, not '%s'", optarg);
    snprintf(before, sizeof before, "%.*s", (int)(comma - optarg), optarg);
    bool is_set =
        args_number(args, "--pad", before, RECMAP_ROW_SIZE_MAX, &options->windows.pad_before) &&
        args_number(args, "--pad", comma + 1, RECMAP_ROW_SIZE_MAX, &options->windows.pad_after);
    return is_set ? 0 : 2;
}

static int set_number(struct row_options *options, const struct args *args, int option) {
    uint64_t number;
    uint64_t limit = option == OPTION_GROUP ? RECMAP_PACKED_GROUP_MAX : RECMAP_ROW_SIZE_MAX;
    if (args_option_number(args, limit, &number)) return 2;
    switch (option) {
    case OPTION_CHUNKED: options->chunked.size = number; break;
    case OPTION_PACKED: options->packed.size = number; break;
    case OPTION_WINDOWS: options->windows.size = number; break;
    case OPTION_OVERLAP: options->chunked.overlap = number; break;
    case OPTION_ADD: options->chunked.add = options->packed.add = number; break;
    case OPTION_GROUP: options->packed.group = (uint32_t)number; break;
    default: options->windows.stride = number; break;
    }
    return 0;
}

int row_options_set(struct row_options *options, const struct args *args, int option) {
    int choice = args->choice;
    options->given |= bit(option);
    switch (option) {
    case OPTION_FEATURE: options->feature = optarg; return 0;
    case OPTION_DOCUMENTS: options->chunked.documents = (recmap_documents)choice; return 0;
    case OPTION_TAIL: options->chunked.last = (recmap_tail)choice; return 0;
    case OPTION_LONG_DOCUMENTS: options->packed.long_documents = (recmap_long)choice; return 0;
    case OPTION_PAD: return set_pad(options, args);
    default: return set_number(options, args, option);
    }
}

/* The kinds of row orders that an option is for. */
static unsigned kinds_of(int option) {
    switch (option) {
    case OPTION_OVERLAP:
    case OPTION_DOCUMENTS:
    case OPTION_TAIL: return bit(OPTION_CHUNKED);
    case OPTION_LONG_DOCUMENTS:
    case OPTION_GROUP: return bit(OPTION_PACKED);
    case OPTION_ADD: return bit(OPTION_CHUNKED) | bit(OPTION_PACKED);
    case OPTION_STRIDE:
    case OPTION_PAD: return bit(OPTION_WINDOWS);
    default: return bit(OPTION_CHUNKED) | bit(OPTION_PACKED) | bit(OPTION_WINDOWS);
    }
}

static const char *kinds_name(unsigned kinds) {
    if (kinds == bit(OPTION_CHUNKED)) return "--chunked";
    if (kinds == bit(OPTION_PACKED)) return "--packed";
    if (kinds == bit(OPTION_WINDOWS)) return "--windows";
    return kinds & bit(OPTION_WINDOWS) ? "--chunked, --packed or --windows"
                                       : "--chunked or --packed";
}

int row_options_check(const struct row_options *options, const struct args *args) {
    unsigned kind = options->given &
                    (bit(OPTION_CHUNKED) | bit(OPTION_PACKED) | bit(OPTION_WINDOWS));
    if (kind & (kind - 1))
        return args_usage_error(args, "only one of --chunked, --packed and --windows can be given");
    for (int option = OPTION_CHUNKED; option <= OPTION_PAD; option++)
        if (options->given & bit(option) && !(kinds_of(option) & kind))
            return args_usage_error(args, "--%s requires %s", option_name(option),
                                    kinds_name(kinds_of(option)));
    return 0;
}

/* Sets the name of the only feature whose elements the index counts. Returns 0, or the exit status
 * after printing the error. */
static int find_only_feature(const char **name, const recmap_dataset *dataset, const char *path) {
    size_t count = recmap_dataset_get_info(dataset)->counted_feature_count;
    if (!count)
        return message_error(RECMAP_NO_COLUMN, path, "build it with `recmap index --count FEATURE`",
                             "the index has no element counts");
    if (count > 1)
        return message_error(RECMAP_INVALID, path,
                             "choose one with --feature; `recmap info` lists them",
                             "the index counts the elements of %zu features", count);
    recmap_counted_feature feature;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_dataset_get_counted_feature(&feature, dataset, 0, &error) != RECMAP_OK)
        return message_print(&error);
    *name = feature.name;
    return 0;
}

static recmap_status create_order(recmap_order **order, const struct row_options *options,
                                  uint64_t seed, recmap_counts *counts, recmap_error *error) {
    recmap_chunked_options chunked = options->chunked;
    recmap_packed_options packed = options->packed;
    recmap_windows_options windows = options->windows;
    chunked.seed = packed.seed = windows.seed = seed;
    if (options->given & bit(OPTION_CHUNKED))
        return recmap_order_chunked(order, counts, &chunked, error);
    if (options->given & bit(OPTION_PACKED))
        return recmap_order_packed(order, counts, &packed, error);
    return recmap_order_windows(order, counts, &windows, error);
}

int row_options_create_order(recmap_order **order, const struct row_options *options, uint64_t seed,
                             recmap_dataset *dataset, const struct args *args) {
    const char *name = options->feature;
    if (!name) {
        int exit_status = find_only_feature(&name, dataset, args->operands[0]);
        if (exit_status) return exit_status;
    }
    recmap_counts *counts = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_dataset_read_counts(&counts, dataset, name, &error);
    if (status == RECMAP_OK) status = create_order(order, options, seed, counts, &error);
    recmap_counts_release(counts);
    return status == RECMAP_OK ? 0 : message_print(&error);
}
