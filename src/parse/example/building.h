/* The internals of an example builder: the record being built, and what reading JSON adds to it. */
#ifndef RECMAP_PARSE_EXAMPLE_BUILDING_H
#define RECMAP_PARSE_EXAMPLE_BUILDING_H

#include <recmap/example_builder.h>

#include "parse/example/entry_map.h"

struct recmap_example_builder {
    recmap_message message;      /* 0 if no record was begun */
    struct message_writer arena; /* names, and encoded features */
    struct entry_map features;
    struct entry_map lists; /* entries with the same name are consecutive parts of one list */
    bool is_in_list;
    struct map_entry open;        /* the open list, which receives steps; not in `lists` yet */
    struct message_writer output; /* the finished record */
    /* For reading JSON: the encoded values of one list, strings without escapes, and the feature's
     * name. */
    struct message_writer values, plain, name;
    uint64_t size_limit;
    /* Names of features whose rounding was reported, each after its size in 4 bytes, and the
     * warning of the JSON read last. */
    struct message_writer rounded_names;
    bool has_warning;
    recmap_error warning;
};

/* Like the public functions, for names of a given size known to be UTF-8. `origin` is stored with
 * the entry. `values` contains the encoded values of a list; for numbers, without the tag and
 * length of the packed field. */
recmap_status builder_add_packed(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_type kind,
                                 const struct message_writer *values, recmap_error *error);
recmap_status builder_begin_list(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_error *error);

#endif
