/* The words behind `recmap COMMAND`: GNU options before, between and behind the operands. */
#ifndef RECMAP_ARGS_H
#define RECMAP_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <recmap/dataset.h>

/* One command of the tool. */
struct command {
    const char *name;
    const char *summary;               /* one line, for the list of commands */
    const char *help;                  /* the whole answer to --help */
    bool reads;                        /* reads records, and so takes --access and --check */
    int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
};

enum { ARGS_END = -1, ARGS_STOP = -2 };

/* Values for options without a letter start here; the last is that of --framing, for commands that
 * open an index: args_next takes it. */
enum { ARGS_LONG = 256, ARGS_FRAMING = 999 };

enum { ARGS_OPTIONS_MAX = 20 };

struct args {
    const struct command *command;
    int argc;
    char **argv;
    struct option table[ARGS_OPTIONS_MAX]; /* the command's own, --help, --access, --check */
    char letters[2 * ARGS_OPTIONS_MAX + 2];
    char **operands; /* when the options are at their end */
    int operand_count;
    int exit_status;                        /* when they stop early */
    recmap_dataset_options dataset_options; /* how the index will be opened */
};

/* `options` end with a row of zeros; a value below ARGS_LONG is also the option's letter. */
void args_init(struct args *args, const struct command *command, const struct option *options,
               int argc, char **argv);

/* More options of the command, from a table of several commands. */
void args_add(struct args *args, const struct option *options);

/* The next option's value, its argument in `optarg`; ARGS_END when only operands are left;
 * ARGS_STOP when the command ends here with args->exit_status (--help, or a wrong option). */
int args_next(struct args *args);

/* Says what is wrong and where help is. Returns the exit status of wrong usage. */
int args_usage_error(const struct args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A decimal number up to `limit`; says what is wrong with `text` otherwise. `what` names it. */
bool args_number(const struct args *args, const char *what, const char *text, uint64_t limit,
                 uint64_t *number);

/* Loads a framing of the user's own; *name is then its name, and stays. Returns 0, or the exit
 * status after saying what is wrong. */
int args_load_framing(const char **name, const char *path);

/* Opens the index that the first operand names, with the guard. Returns 0, or the exit status after
 * saying what is wrong. */
int args_open(recmap_dataset **dataset, const struct args *args);

#endif
