/* The options of all commands. The parser, --help, completion and the manual pages all follow this
 * one table, so that none of them lacks an option.
 */
#ifndef RECMAP_TOOLS_TERMINAL_OPTIONS_H
#define RECMAP_TOOLS_TERMINAL_OPTIONS_H

#include <stdbool.h>

/* Options of the same name have the same value, except --framing and --shards: the shared options
 * of these names take a plug-in and a folder. Values below OPTION_LONG are the option's letter. */
enum {
    OPTION_NONE = 0, /* a heading */
    OPTION_HELP = 'h',
    OPTION_OUTPUT = 'o',
    OPTION_LONG = 256,

    /* orders/order_options.c needs these in a row, */
    OPTION_SHUFFLE = OPTION_LONG,
    OPTION_SEED,
    OPTION_EPOCH,
    OPTION_FROM,
    OPTION_COUNT,
    OPTION_RANK,
    OPTION_WORLD_SIZE,
    OPTION_BATCH_SIZE,
    OPTION_LAST,
    OPTION_STEP,

    /* and orders/row_options.c these. */
    OPTION_CHUNKED,
    OPTION_PACKED,
    OPTION_WINDOWS,
    OPTION_FEATURE,
    OPTION_OVERLAP,
    OPTION_ADD,
    OPTION_DOCUMENTS,
    OPTION_TAIL,
    OPTION_LONG_DOCUMENTS,
    OPTION_GROUP,
    OPTION_STRIDE,
    OPTION_PAD,

    /* output/pixel_options.c needs these in a row. */
    OPTION_PIXELS,
    OPTION_SIZE,
    OPTION_CROP,
    OPTION_SCALE,
    OPTION_RATIO,
    OPTION_RESIZE,
    OPTION_PADDING,
    OPTION_FILL,
    OPTION_FLIP,
    OPTION_MODE,
    OPTION_DTYPE,
    OPTION_INTERPOLATION,
    OPTION_NO_ANTIALIAS,
    OPTION_NO_EXIF,
    OPTION_MAX_PIXELS,
    OPTION_DRAW,
    OPTION_POSITION,

    OPTION_APPEND,
    OPTION_BY,
    OPTION_COLUMN,
    OPTION_COMPRESSION,
    OPTION_DECOMPRESS,
    OPTION_DEFAULT,
    OPTION_DESCRIBE,
    OPTION_DROP,
    OPTION_FEATURES,
    OPTION_FORMAT,
    OPTION_FRAMING,
    OPTION_FROM_IDX,
    OPTION_ID,
    OPTION_INDEX_ONLY,
    OPTION_JSON,
    OPTION_LIFT,
    OPTION_MEMORY_LIMIT,
    OPTION_MISSING_VALUES,
    OPTION_NO_BROWSER,
    OPTION_NODE,
    OPTION_ON_BAD_RECORD,
    OPTION_PORT,
    OPTION_POSITION_OF,
    OPTION_RENAME,
    OPTION_SAMPLE,
    OPTION_SETS,
    OPTION_SHARDS,
    OPTION_SPLIT,
    OPTION_STATE,
    OPTION_THREADS,
    OPTION_TO,
    OPTION_UNMATCHED,
    OPTION_WHERE,

    /* terminal/args.c handles these itself. */
    OPTION_SHARED,
    OPTION_ACCESS = OPTION_SHARED,
    OPTION_CACHE,
    OPTION_CACHE_SIZE,
    OPTION_CHECK,
    OPTION_DECODER,
    OPTION_DESCRIPTOR,
    OPTION_INDEX,
    OPTION_MESSAGE,
    OPTION_PLUGIN,
    OPTION_SHARDS_FOLDER,
    OPTION_STORAGE
};

/* A row of the table. Several rows in succession may describe forms of one option. */
struct option_row {
    int option;
    const char *name; /* without dashes; NULL: `text` is a heading */
    /* The argument, as it is shown, or NULL. If no word between `|` has capitals, it must be one of
     * these words, which are in the order of the constants that they stand for. Completion offers
     * words without capitals, folders for FOLDER, and files for all others. */
    const char *argument;
    const char *commands; /* that have the option, separated by spaces; NULL: all */
    const char *text;     /* what the option does; a newline starts a new line */
};

/* The last row is all zeros. */
extern const struct option_row option_table[];

/* Returns true if the command has the option or heading. */
bool option_row_is_for(const struct option_row *row, const char *command);

/* Returns true if the argument must be one of the words between `|` in row->argument. */
bool option_row_has_choices(const struct option_row *row);

/* Returns the index of the choice that `word` is, or -1. */
int option_row_find_choice(const struct option_row *row, const char *word);

/* Returns the name of an option, without dashes. */
const char *option_name(int option);

/* Prints the options of a command as its --help shows them. */
void options_print(const char *command);

#endif
