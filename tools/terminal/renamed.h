/* Options of 0.2.0 and their values that have other names now. They work throughout 1.x, with a
 * note.
 */
#ifndef RECMAP_TOOLS_TERMINAL_RENAMED_H
#define RECMAP_TOOLS_TERMINAL_RENAMED_H

#include "terminal/args.h"

/* Replaces old names of options in the words, up to `--`, and prints a note for each. Only names of
 * the command's table replace others, and no option of it is replaced. Returns 0, or the exit
 * status after printing the error, if an option is given by both names. */
int renamed_options(const struct args *args);

/* The name of today of a value of an option, with a note if it has changed; else the value. */
const char *renamed_value(const char *value);

#endif
