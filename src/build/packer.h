/* Packing: records in, in order, shard after shard; one sealed index file out. Whoever finds the
 * records (scan, writer, an older index), the same records give the same bytes. Memory is bounded
 * by one chunk of offsets and of each column, and a buffer of ids. */
#ifndef RECMAP_BUILD_PACKER_H
#define RECMAP_BUILD_PACKER_H

#include <recmap/index.h>

#include "format/compression.h"
#include "index/identity.h"
#include "index/ids.h"
#include "index/points.h"
#include "scan/run.h"
#include "scan/shard_end.h"
#include "store/store.h"

struct packer;

/* What the index will hold; strings are copied. */
struct packer_options {
    const char *id_name; /* NULL: no ids */
    bool extracted_by_caller;
    bool skips_damage;
    const recmap_lift *lifts;
    size_t lift_count;
};

recmap_status packer_create(struct packer **packer, const char *path,
                            const struct packer_options *options, recmap_error *error);
void packer_destroy(struct packer *packer);

uint64_t packer_record_count(const struct packer *packer);

/* A part of the index was built by skipping damage. */
void packer_note_skips(struct packer *packer);

/* `path` is absolute and free of symbolic links. */
recmap_status packer_begin_shard(struct packer *packer, const char *path, const char *framing,
                                 recmap_error *error);

/* Errors: FEATURE when a column's type differs from that of the records before, or a value is
 * missing without a default. */
recmap_status packer_add_run(struct packer *packer, const struct record_run *run,
                             recmap_error *error);

recmap_status packer_add_damage(struct packer *packer, uint64_t offset, uint64_t length,
                                const char *reason, recmap_error *error);

/* Ends the shard. Where its identity is known already, the runs' checks were not looked at. */
recmap_status packer_end_shard(struct packer *packer, const struct shard_end *end,
                               const struct shard_identity *identity, recmap_error *error);

/* An id of a record that was or will be added; for who knows ids apart from their records. */
recmap_status packer_add_id(struct packer *packer, struct id_pair pair, recmap_error *error);

/* Seals and publishes. `summary` may be NULL. */
recmap_status packer_finish(struct packer *packer, store_publish_check before_publish,
                            void *context, recmap_index_summary *summary, recmap_error *error);

#endif
