/* Options of 0.2.0 and their values that have other names now. They work throughout 1.x, with a
 * note.
 */
#ifndef RECMAP_TOOLS_TERMINAL_RENAMED_H
#define RECMAP_TOOLS_TERMINAL_RENAMED_H

#include <getopt.h>

/* Replaces old names of options in the words, up to `--`, and prints a note for each. Only names of
 * `table` replace others, and no option of it is replaced. */
void renamed_options(int argc, char **argv, const struct option *table);

/* The name of today of a value of an option, with a note if it has changed; else the value. */
const char *renamed_value(const char *value);

#endif
