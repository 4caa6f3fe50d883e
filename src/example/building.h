/* The inside of an example builder: the record that is being built, and what reading JSON adds to
 * it. */
#ifndef RECMAP_EXAMPLE_BUILDING_H
#define RECMAP_EXAMPLE_BUILDING_H

#include <recmap/example_builder.h>

#include "example/entry_map.h"

struct recmap_example_builder {
    recmap_message message;      /* 0: none was begun */
    struct message_writer arena; /* names, and features as they stand on the wire */
    struct entry_map features;
    struct entry_map lists; /* entries of one name are parts of one list, one behind the other */
    bool is_in_list;
    struct map_entry open;        /* the list that steps are added to, not among `lists` yet */
    struct message_writer output; /* the finished record */
    /* For reading JSON: the values of one list, as they stand on the wire; texts without escapes;
     * and the name of the feature. */
    struct message_writer values, plain, name;
    uint64_t size_limit;
};

/* As the public functions, for names of a given size that are known to be UTF-8. `origin` is kept
 * with the entry. `packed` are the values of a list as they stand in it on the wire, numbers
 * without the tag and length that pack them. */
recmap_status builder_add_packed(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_type kind,
                                 const struct message_writer *packed, recmap_error *error);
recmap_status builder_begin_list(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_error *error);

#endif
