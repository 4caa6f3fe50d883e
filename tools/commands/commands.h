/* The commands. Each is defined in the file of its name. */
#ifndef RECMAP_TOOLS_COMMANDS_COMMANDS_H
#define RECMAP_TOOLS_COMMANDS_COMMANDS_H

#include "terminal/args.h"

/* The end of the help of a command that only reads. */
#define HELP_SHARDS                                                                                \
    "SHARDS is a shard, a folder, a pattern in quotes, NAME@N, @LISTFILE or a URL: their\n"        \
    "index is used, and first built or extended if it lacks them; see 'recmap index'.\n"

extern const struct command cmd_index, cmd_info, cmd_schema, cmd_get, cmd_find, cmd_cat, cmd_order,
    cmd_verify, cmd_merge, cmd_import, cmd_export, cmd_select, cmd_sample, cmd_split,
    cmd_duplicates, cmd_annotate, cmd_report, cmd_view, cmd_doctor, cmd_warm;

#endif
