/* Command line arguments: GNU options and operands in any order. */
#ifndef RECMAP_TOOLS_TERMINAL_ARGS_H
#define RECMAP_TOOLS_TERMINAL_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

/* A command, such as `recmap index`. */
struct command {
    const char *name;
    const char *summary;               /* one line, printed by recmap --help */
    const char *help;                  /* printed by recmap COMMAND --help */
    bool reads;                        /* true: it takes --access and --check */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
};

enum { ARGS_END = -1, ARGS_STOP = -2 };

/* Options without a letter have values from ARGS_LONG. args_next handles those from ARGS_SHARED,
 * which are the options --framing, --index, --shards, --storage, --cache and --cache-size of
 * commands that open an index. */
enum {
    ARGS_LONG = 256,
    ARGS_SHARED = 900,
    ARGS_ACCESS = 993, /* added to commands that read; `recmap index` has it too */
    ARGS_INDEX = 994,
    ARGS_CACHE = 995,
    ARGS_CACHE_SIZE = 996,
    ARGS_STORAGE = 997,
    ARGS_SHARDS = 998,
    ARGS_FRAMING = 999
};

/* clang-format off */
/* For a command that also takes a selection. */
#define ARGS_SELECTION_OPTIONS {"index", required_argument, NULL, ARGS_INDEX}
/* For a command that opens an index and reads no shard: the index itself may be in a store. */
#define ARGS_INDEX_OPTIONS                                    \
    {"framing", required_argument, NULL, ARGS_FRAMING},       \
    {"storage", required_argument, NULL, ARGS_STORAGE},       \
    {"cache", required_argument, NULL, ARGS_CACHE},           \
    {"cache-size", required_argument, NULL, ARGS_CACHE_SIZE}
/* For a command that reads records. */
#define ARGS_SHARED_OPTIONS                                   \
    {"shards", required_argument, NULL, ARGS_SHARDS},         \
    ARGS_INDEX_OPTIONS
/* clang-format on */

enum { ARGS_OPTIONS_MAX = 32 };

struct args {
    const struct command *command;
    int argc;
    char **argv;
    struct option table[ARGS_OPTIONS_MAX];  /* the command's, --help, --access, --check */
    char letters[2 * ARGS_OPTIONS_MAX + 3]; /* those, and -h */
    bool is_begun;                          /* args_next was called */
    char **operands;                        /* set when args_next returns ARGS_END */
    int operand_count;
    int exit_status;                        /* set when args_next returns ARGS_STOP */
    recmap_dataset_options dataset_options; /* for opening the index */
    const char *index_path;                 /* of a selection whose index was moved; or NULL */
    const char *framing;                    /* the custom framing that --framing loaded; or NULL */
};

/* The last element of `options` is all zeros. A value below ARGS_LONG is the option's letter. */
void args_init(struct args *args, const struct command *command, const struct option *options,
               int argc, char **argv);

/* Adds options that several commands share. */
void args_add(struct args *args, const struct option *options);

/* Returns the next option's value, with its argument in `optarg`; ARGS_END if only operands are
 * left; ARGS_STOP if the command must exit with args->exit_status (after --help or an error). */
int args_next(struct args *args);

/* Prints the error and a hint to --help. Returns the exit status. */
int args_usage_error(const struct args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses a whole number up to `limit`. Prints an error that calls it `name`, and returns false,
 * if `text` is not one. */
bool args_number(const struct args *args, const char *name, const char *text, uint64_t limit,
                 uint64_t *number);

/* Parses a number of bytes, such as 200GB or 64MiB, that is not 0. Prints an error that calls it
 * `name`, and returns false, if `text` is not one. */
bool args_size(const struct args *args, const char *name, const char *text, uint64_t *size);

/* Creates the storage of `options`, with the options of --storage so far. It lives until the
 * process exits. Errors: NO_MEMORY. */
recmap_status args_prepare_storage(recmap_dataset_options *options, recmap_error *error);

/* Loads a custom framing from a shared object; *name is valid until exit. Returns 0, or the exit
 * status after printing the error. */
int args_load_framing(const char **name, const char *path);

/* Returns true if the first operand is a selection. */
bool args_name_selection(const struct args *args);

/* Checks that an operand names what to open, and that options for opening it are not in conflict.
 * Returns 0, or the exit status after printing the error. */
int args_check_opening(const struct args *args);

/* Checks as args_check_opening, then opens the index named by the first operand, with the SIGBUS
 * guard installed. Returns 0, or the exit status after printing the error. */
int args_open(recmap_dataset **dataset, const struct args *args);

#endif
