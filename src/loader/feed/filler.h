/* A filler turns one step of an epoch into a batch: it finds the record numbers, reads the records,
 * and skips or replaces bad ones. Each worker has its own filler; only one thread uses it. */
#ifndef RECMAP_LOADER_FEED_FILLER_H
#define RECMAP_LOADER_FEED_FILLER_H

#include <recmap/loader.h>

#include "dataset/batch/collect.h"
#include "dataset/batch/direct_reader.h"
#include "loader/feed/epoch_cursor.h"
#include "parse/columns/image_counts.h"

/* The result of filling a step. */
struct filled_batch {
    recmap_batch *batch;   /* NULL at the end of an epoch */
    bool is_started;       /* its records are being read directly */
    struct lost_rows lost; /* damaged records, to be left out or replaced */
    uint64_t epoch;        /* where a run resumes once the caller has this batch */
    uint64_t position;
    uint64_t byte_count;
    uint64_t pixels_size; /* bytes of memory for pixels */
    uint64_t fill_ns;     /* as in recmap_loader_statistics */
    uint64_t parse_ns;
    struct image_counts images;
    recmap_skipped *skipped;
    size_t skipped_count;
    size_t skipped_capacity;
};

/* After this many bad records in a row the data is unusable, so no further substitute is tried. */
enum { SUBSTITUTE_TRIES = 65536 };

/* Lists a record as skipped. Returns false without memory. */
bool filled_batch_add_skipped(struct filled_batch *result, const recmap_skipped *skipped);

/* Resets everything but the batch. */
void filled_batch_clear(struct filled_batch *result);

/* Adds the pictures of a part, or of a step. */
void image_counts_add(struct image_counts *counts, const struct image_counts *more);

struct filler {
    recmap_dataset *dataset;
    uint32_t rank; /* whose share of each step is read */
    recmap_on_bad_record policy;
    uint64_t draw_seed;             /* of random images */
    const recmap_order *order;      /* the loader's; a step may be of an older one */
    const recmap_order *draw_order; /* see recmap_loader_options; NULL: the loader's */
    const recmap_parser *parser;    /* NULL: records are not parsed */
    bool shares_parts;              /* other workers may parse parts of a step */
    struct image_counts images;     /* of the current step */
    struct direct_reader *reader;   /* NULL: batches are gathered */
    recmap_columns *scratch;        /* whose scratch memory parts are parsed with, or NULL */
    recmap_batch *single;           /* for checking one row; created on first use */
    uint64_t *numbers;              /* of the step's records; of rows, their positions */
    size_t capacity;
};

void filler_deinit(struct filler *filler);

/* Starts reading the step's records into `result->batch`, if there is a direct reader. */
void filler_start(struct filled_batch *result, struct filler *filler,
                  const struct epoch_step *step);

/* Filling `result->batch`, which must not be NULL, with the records of the step takes three calls.
 * If filler_start was called, it must have been for the same step.
 *
 * The first one reads the records. If some are damaged and are to be left out or replaced, they are
 * listed in `result->lost`. */
recmap_status filler_read(struct filled_batch *result, struct filler *filler,
                          const struct epoch_step *step, recmap_error *error);

/* Parses the records. The loader's policy decides about bad ones. Rows are read here. */
recmap_status filler_parse(struct filled_batch *result, struct filler *filler,
                           const struct epoch_step *step, recmap_error *error);

/* Says where a run resumes after the step, and what is in the batch. */
recmap_status filler_finish(struct filled_batch *result, const struct epoch_step *step,
                            recmap_error *error);

#endif
