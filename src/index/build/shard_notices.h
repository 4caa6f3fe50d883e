/* Shards that may not be complete although nothing in them is damaged: members of a set and
 * archives without any record, and files that end with the payload of their last record, although
 * the framing puts bytes after it. Both are noticed, but are not errors. */
#ifndef RECMAP_INDEX_BUILD_SHARD_NOTICES_H
#define RECMAP_INDEX_BUILD_SHARD_NOTICES_H

#include <recmap/index.h>

#include "format/framing/framing.h"
#include "index/extract/run.h"
#include "index/scan/shard_end.h"

struct shard_notices {
    const char *path; /* of the current shard */
    const struct framing *framing;
    uint64_t last_number, last_offset, last_end; /* of its last record; last_end: of the payload */
    char last_key[200];                          /* cut to this size; "" without a key */
    bool has_records, has_damage;
    uint64_t empty_count, open_count;
    char empty[RECMAP_NOTICE_SIZE], open[RECMAP_NOTICE_SIZE]; /* the first of each */
};

/* Starts a shard, by whose `path` notices name it. Borrows both. */
void shard_notices_begin(struct shard_notices *notices, const char *path,
                         const struct framing *framing);

/* Notes the records of a run, whose first record has the number `first`. */
void shard_notices_add(struct shard_notices *notices, const struct record_run *run, uint64_t first);

/* Notes that the shard has damage. */
void shard_notices_add_damage(struct shard_notices *notices);

/* Judges the shard. */
void shard_notices_end(struct shard_notices *notices, const struct shard_end *end);

/* Adds the notices to the summary, whose counts of records are set. */
void shard_notices_report(recmap_index_summary *summary, const struct shard_notices *notices);

#endif
