#include "orders/row_options.h"

#include <stdio.h>
#include <string.h>

#include "terminal/message.h"

enum {
    CHUNKED = ROW_OPTIONS_FIRST,
    PACKED,
    WINDOWS,
    FEATURE,
    OVERLAP,
    ADD,
    DOCUMENTS,
    TAIL,
    LONG,
    GROUP,
    STRIDE,
    PAD,
};

static const struct option rows[] = {{"chunked", required_argument, NULL, CHUNKED},
                                     {"packed", required_argument, NULL, PACKED},
                                     {"windows", required_argument, NULL, WINDOWS},
                                     {"feature", required_argument, NULL, FEATURE},
                                     {"overlap", required_argument, NULL, OVERLAP},
                                     {"add", required_argument, NULL, ADD},
                                     {"documents", required_argument, NULL, DOCUMENTS},
                                     {"tail", required_argument, NULL, TAIL},
                                     {"long", required_argument, NULL, LONG},
                                     {"group", required_argument, NULL, GROUP},
                                     {"stride", required_argument, NULL, STRIDE},
                                     {"pad", required_argument, NULL, PAD},
                                     {NULL, 0, NULL, 0}};

static unsigned bit(int option) {
    return 1U << (option - CHUNKED);
}

void row_options_init(struct row_options *options, struct args *args) {
    *options = (struct row_options){
        .chunked = RECMAP_CHUNKED_OPTIONS_INIT,
        .packed = RECMAP_PACKED_OPTIONS_INIT,
        .windows = RECMAP_WINDOWS_OPTIONS_INIT,
    };
    args_add(args, rows);
}

bool row_options_has_rows(const struct row_options *options) {
    return options->given & (bit(CHUNKED) | bit(PACKED) | bit(WINDOWS));
}

/* Parses the argument of option `name`, one of `choices`. Returns 0, or the exit status after
 * printing the error. */
static int set_choice(int *index, const struct args *args, const char *name,
                      const char *const *choices) {
    for (int i = 0; choices[i]; i++) {
        if (strcmp(optarg, choices[i])) continue;
        *index = i;
        return 0;
    }
    char listed[64];
    if (choices[2]) snprintf(listed, sizeof listed, "%s, %s", choices[0], choices[1]);
    else snprintf(listed, sizeof listed, "%s", choices[0]);
    return args_usage_error(args, "invalid --%s '%s': use %s or %s", name, optarg, listed,
                            choices[choices[2] ? 2 : 1]);
}

static int set_documents(struct row_options *options, const struct args *args) {
    int index = 0;
    int exit_status =
        set_choice(&index, args, "documents", (const char *const[]){"shuffled", "stored", NULL});
    options->chunked.documents = index ? RECMAP_DOCUMENTS_STORED : RECMAP_DOCUMENTS_SHUFFLED;
    return exit_status;
}

static int set_tail(struct row_options *options, const struct args *args) {
    int index = 0;
    int exit_status = set_choice(&index, args, "tail", (const char *const[]){"drop", "pad", NULL});
    options->chunked.last = index ? RECMAP_TAIL_PAD : RECMAP_TAIL_DROP;
    return exit_status;
}

static int set_long(struct row_options *options, const struct args *args) {
    int index = 0;
    int exit_status =
        set_choice(&index, args, "long", (const char *const[]){"split", "truncate", "drop", NULL});
    options->packed.long_documents = (recmap_long)index;
    return exit_status;
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
    char name[16] = "--";
    uint64_t number;
    strncat(name, rows[option - CHUNKED].name, sizeof name - 3);
    uint64_t limit = option == GROUP ? RECMAP_PACKED_GROUP_MAX : RECMAP_ROW_SIZE_MAX;
    if (!args_number(args, name, optarg, limit, &number)) return 2;
    switch (option) {
    case CHUNKED: options->chunked.size = number; break;
    case PACKED: options->packed.size = number; break;
    case WINDOWS: options->windows.size = number; break;
    case OVERLAP: options->chunked.overlap = number; break;
    case ADD: options->chunked.add = options->packed.add = number; break;
    case GROUP: options->packed.group = (uint32_t)number; break;
    default: options->windows.stride = number; break;
    }
    return 0;
}

int row_options_set(struct row_options *options, const struct args *args, int option) {
    options->given |= bit(option);
    switch (option) {
    case FEATURE: options->feature = optarg; return 0;
    case DOCUMENTS: return set_documents(options, args);
    case TAIL: return set_tail(options, args);
    case LONG: return set_long(options, args);
    case PAD: return set_pad(options, args);
    default: return set_number(options, args, option);
    }
}

/* The kinds of row orders that an option is for. */
static unsigned kinds_of(int option) {
    switch (option) {
    case OVERLAP:
    case DOCUMENTS:
    case TAIL: return bit(CHUNKED);
    case LONG:
    case GROUP: return bit(PACKED);
    case ADD: return bit(CHUNKED) | bit(PACKED);
    case STRIDE:
    case PAD: return bit(WINDOWS);
    default: return bit(CHUNKED) | bit(PACKED) | bit(WINDOWS);
    }
}

static const char *kinds_name(unsigned kinds) {
    if (kinds == bit(CHUNKED)) return "--chunked";
    if (kinds == bit(PACKED)) return "--packed";
    if (kinds == bit(WINDOWS)) return "--windows";
    return kinds & bit(WINDOWS) ? "--chunked, --packed or --windows" : "--chunked or --packed";
}

int row_options_check(const struct row_options *options, const struct args *args) {
    unsigned kind = options->given & (bit(CHUNKED) | bit(PACKED) | bit(WINDOWS));
    if (kind & (kind - 1))
        return args_usage_error(args, "only one of --chunked, --packed and --windows can be given");
    for (int option = CHUNKED; option <= PAD; option++)
        if (options->given & bit(option) && !(kinds_of(option) & kind))
            return args_usage_error(args, "--%s requires %s", rows[option - CHUNKED].name,
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
        return recmap_error_print(&error, stderr);
    *name = feature.name;
    return 0;
}

static recmap_status create_order(recmap_order **order, const struct row_options *options,
                                  uint64_t seed, recmap_counts *counts, recmap_error *error) {
    recmap_chunked_options chunked = options->chunked;
    recmap_packed_options packed = options->packed;
    recmap_windows_options windows = options->windows;
    chunked.seed = packed.seed = windows.seed = seed;
    if (options->given & bit(CHUNKED)) return recmap_order_chunked(order, counts, &chunked, error);
    if (options->given & bit(PACKED)) return recmap_order_packed(order, counts, &packed, error);
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
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
