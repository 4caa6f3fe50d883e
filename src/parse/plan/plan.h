/* A plan: what a parser compiles its features into. Slots say what to read from each record; column
 * plans say how to assemble columns from the slots' sinks after all rows are read. */
#ifndef RECMAP_PARSE_PLAN_PLAN_H
#define RECMAP_PARSE_PLAN_PLAN_H

#include <stdatomic.h>

#include <recmap/parser.h>

#include "parse/example/names.h"
#include "parse/image/image.h"
#include "parse/plan/arena.h"
#include "parse/plan/prefixes.h"
#include "parse/plan/record_reader.h"
#include "parse/plan/slot.h"

/* How to assemble one column. */
struct column_plan {
    recmap_feature feature;    /* a copy owned by the plan; `key` is never NULL */
    bool is_list;              /* of a SequenceExample's feature lists */
    size_t values_slot;        /* index into `features`, or into `lists` if is_list is set; SLICED:
                                  into `slices`; if is_output is set: into `outputs` */
    bool is_output;            /* the values are computed from others, as pixels and boxes are */
    size_t part;               /* of pixels: index into `images`; BOXES: into `boxes` */
    const size_t *other_slots; /* one per partition (SIZE_MAX if uniform) or index key */
    uint64_t stride;           /* elements in `shape` */
    const void *pad;           /* one value, for FIXED_LEN_SEQUENCE and SLICED */
};

/* How to cut the elements of one feature into rows. */
struct slice_plan {
    struct slot slot;  /* any number of values, a multiple of the stride; pictures as bytes */
    size_t column;     /* of the feature, with its shape and padding */
    uint64_t stride;   /* values of an element */
    const void *added; /* values of one element each: first those to prepend, then to append */
};

enum { PIXEL_DIMENSIONS = 3 }; /* of a picture: height, width, channels */

/* How to make pixels of one feature. */
struct image_feature {
    const char *name;  /* of the column */
    size_t pixels;     /* the output with the pixels of a row */
    size_t shapes;     /* without a size: the output with the shape of a row; else SIZE_MAX */
    size_t bytes_slot; /* of `features`: one view, which is empty if the default applies; or any
                          number of views, each a picture */
    bool has_list;     /* any number */
    bool is_in_lists;  /* the slot is of `lists` */
    bool is_sliced;    /* the pictures are those of rows: `bytes_slot` is an index into `slices` */
    const void *fill;  /* the pixels of the default, or NULL */
    struct image_plan plan;
};

/* How to move boxes with the pixels of an image. */
struct boxes_feature {
    const char *image_name;
    size_t image;         /* index into `images` */
    size_t coordinate[4]; /* slots of `features`: ymin, xmin, ymax, xmax; one slot if is_packed */
    size_t output;        /* four numbers for each box, or the share of it that is visible */
    bool is_packed;       /* all four numbers of a box follow each other in one feature */
    bool is_visible;
};

/* The slots of one feature map: an Example's or a context's features, or the feature lists. */
struct slot_set {
    struct slot *slots;
    size_t count, capacity;
    struct example_names *names; /* in slot order; several slots may share a name */
    struct prefixes *prefixes;   /* for the fast path; NULL for feature lists */
};

struct recmap_parser {
    atomic_uint users;
    uint64_t id; /* no other parser of this process has it */
    bool is_sequence;
    recmap_parse_fn custom_parse; /* the user's function that reads records, or NULL */
    void *custom_context;
    struct record_reader *reader; /* of records that are not tf.Examples; or NULL */
    struct slot_set features;     /* of the Example or of the context */
    struct slot_set lists;        /* of a SequenceExample */
    struct slice_plan *slices;    /* SLICED features of both, which no record is parsed for */
    size_t slice_count;
    struct slot *outputs; /* values that are computed from others once a record was read */
    size_t output_count;
    struct image_feature *images; /* IMAGE features */
    size_t image_count;
    struct boxes_feature *boxes; /* BOXES features */
    size_t boxes_count;
    recmap_parser *whole; /* the SLICED features as unpadded sequences, to read whole records that
                             are not encoded as usual; NULL if there are none */
    struct column_plan *columns;
    size_t column_count;
    size_t context_count; /* columns of the context features; columns of feature lists follow */
    bool needs_checks;    /* true if there are RAGGED or SPARSE columns */
    size_t part_stride;   /* the number of parts a column may need; see batch_memory.h */
    struct arena memory;  /* everything not named above */
};

/* Compiles the features: `context_count` of an Example or a context, then `list_count` feature
 * lists. Call plan_deinit afterwards, even on failure. */
recmap_status plan_compile(recmap_parser *parser, const recmap_feature *features,
                           size_t context_count, const recmap_feature *lists, size_t list_count,
                           recmap_error *error);
void plan_deinit(recmap_parser *parser);

#endif
