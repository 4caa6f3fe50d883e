/* Command line arguments: GNU options and operands in any order. */
#ifndef RECMAP_TOOLS_TERMINAL_ARGS_H
#define RECMAP_TOOLS_TERMINAL_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

#include "terminal/options.h"

/* A command, such as `recmap index`. */
struct command {
    const char *name;
    const char *summary;               /* one line, printed by recmap --help */
    const char *help;                  /* printed by recmap COMMAND --help, before the options */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
};

enum { ARGS_END = -1, ARGS_STOP = -2 };

enum { ARGS_OPTIONS_MAX = 40 };

struct args {
    const struct command *command;
    int argc;
    char **argv;
    struct option table[ARGS_OPTIONS_MAX]; /* the command's options in getopt's form */
    const struct option_row *rows[ARGS_OPTIONS_MAX];
    char letters[2 * ARGS_OPTIONS_MAX + 3]; /* of short options */
    const struct option_row *row;           /* of the option that args_next returned */
    char name[32];                          /* --NAME of it */
    int choice;      /* which of the words of row->argument its argument is */
    bool is_begun;   /* args_next was called */
    char **operands; /* set when args_next returns ARGS_END */
    int operand_count;
    int exit_status;                        /* set when args_next returns ARGS_STOP */
    recmap_dataset_options dataset_options; /* for opening the index */
    const char *index_path;                 /* of a selection whose index was moved; or NULL */
    const char *framing;                    /* the custom framing that --framing loaded; or NULL */
    const char *descriptor;                 /* the file with the type of messages; or NULL */
    const char *message;                    /* the name of this type; or NULL */
};

void args_init(struct args *args, const struct command *command, int argc, char **argv);

/* Returns the next option, with its argument in `optarg`; ARGS_END if only operands are left;
 * ARGS_STOP if the command must exit with args->exit_status (after --help or an error). Options
 * from OPTION_SHARED are not returned: they set dataset_options and the members that follow it. */
int args_next(struct args *args);

/* Prints the error and a hint to --help. Returns the exit status. */
int args_usage_error(const struct args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns true for a minus sign and digits. */
bool args_is_negative(const char *text);

/* Parses a whole number up to `limit`. Prints an error that calls it `name`, and returns false,
 * if `text` is not one. */
bool args_number(const struct args *args, const char *name, const char *text, uint64_t limit,
                 uint64_t *number);

/* Parses the argument of the option that args_next returned: a whole number up to `limit`. Returns
 * 0, or the exit status after printing the error. */
int args_option_number(const struct args *args, uint64_t limit, uint64_t *number);

/* The same for --threads. */
int args_option_threads(const struct args *args, unsigned *count);

/* The same for a number of bytes, such as 200GB or 64MiB, that is not 0. */
int args_option_size(const struct args *args, uint64_t *size);

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
