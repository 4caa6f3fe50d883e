/* The commands. Each is defined in cmd_NAME.c. */
#ifndef RECMAP_COMMANDS_H
#define RECMAP_COMMANDS_H

#include "args.h"

extern const struct command cmd_index, cmd_info, cmd_schema, cmd_get, cmd_find, cmd_cat, cmd_order,
    cmd_verify, cmd_merge, cmd_import, cmd_export, cmd_cache, cmd_select, cmd_sample, cmd_split,
    cmd_duplicates, cmd_annotate, cmd_report;

#endif
