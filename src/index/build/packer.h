/* The packer turns the records of shards, in order, into a sealed index file. The same records give
 * the same bytes, whether they come from a scan, a writer or an older index. Memory is bounded: one
 * chunk of offsets, of each column and of each counted feature, a buffer of ids, and the entries of
 * shards. */
#ifndef RECMAP_INDEX_BUILD_PACKER_H
#define RECMAP_INDEX_BUILD_PACKER_H

#include <stdbool.h>

#include <recmap/index.h>

#include "format/deflate/compression.h"
#include "index/extract/run.h"
#include "index/scan/shard_end.h"
#include "index/store/store.h"
#include "index/tables/identity.h"
#include "index/tables/ids.h"
#include "index/tables/points.h"

struct packer;

/* Ids, lifts, counted features, and whether damage is skipped are options of the index. They are
 * copied. */
recmap_status packer_create(struct packer **packer, const char *path,
                            const recmap_index_options *options, enum temporary_leftovers leftovers,
                            recmap_error *error);
void packer_destroy(struct packer *packer);

uint64_t packer_record_count(const struct packer *packer);

/* Records in the index that a part of it was built by skipping damage. */
void packer_note_skips(struct packer *packer);

/* Records in the index that a file has several parts. */
void packer_note_parts(struct packer *packer);

/* Records in the index that values of a column did not come from the records. */
void packer_note_annotated(struct packer *packer, size_t column);

/* Records in the index the first row of its CSV files, which is copied. Returns false without
 * memory. */
bool packer_set_header(struct packer *packer, const char *header, size_t size);

/* Lets missing values of a column be null, unless it has a default. */
void packer_allow_nulls(struct packer *packer, size_t column);

/* Makes the floats of a column float64. Call it before records are added. */
void packer_widen(struct packer *packer, size_t column);

/* `path` is absolute and free of symbolic links. */
recmap_status packer_begin_shard(struct packer *packer, const char *path, const char *framing,
                                 recmap_error *error);

/* Errors: FEATURE if a column's type differs from that of earlier records, or a value is missing
 * and the column has no default. */
recmap_status packer_add_run(struct packer *packer, const struct record_run *run,
                             recmap_error *error);

recmap_status packer_add_damage(struct packer *packer, uint64_t offset, uint64_t length,
                                const char *reason, recmap_error *error);

/* Ends the shard. `identity` may be NULL; if it is given, the checks in the shard's runs are not
 * used. */
recmap_status packer_end_shard(struct packer *packer, const struct shard_end *end,
                               const struct shard_identity *identity, recmap_error *error);

/* Lets nobody read the index who cannot read this file, whose contents are in it. packer_end_shard
 * does so for shards. */
void packer_restrict(struct packer *packer, const struct file_stat *source);

/* The records so far come from the index that is appended to: the summary counts later records that
 * have one of their ids. */
void packer_note_old_records(struct packer *packer);

/* Errors: FEATURE, with advice about the first record, if there are records, and none has an id:
 * the name of the feature is misspelt. */
recmap_status packer_check_ids(const struct packer *packer, recmap_error *error);

/* Adds the id of a record apart from its run, before or after it. */
recmap_status packer_add_id(struct packer *packer, struct id_pair pair, recmap_error *error);

/* Seals and publishes. `summary` may be NULL. */
recmap_status packer_finish(struct packer *packer, store_publish_check before_publish,
                            void *context, recmap_index_summary *summary, recmap_error *error);

#endif
