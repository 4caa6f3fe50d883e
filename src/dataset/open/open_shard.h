/* An open shard and the cache that has it, as the files that open shards, read them and close them
 * see them. */
#ifndef RECMAP_DATASET_OPEN_OPEN_SHARD_H
#define RECMAP_DATASET_OPEN_OPEN_SHARD_H

#include <stdatomic.h>

#include "dataset/open/file_budget.h"
#include "dataset/open/shard_cache.h"
#include "dataset/spans/stored_spans.h"

struct open_shard {
    struct record_pin pin; /* first, so that a pin is its shard */
    struct shard_cache *cache;
    uint32_t shard_index;
    char *path;                 /* for messages */
    struct shard_window mapped; /* of an uncompressed mapped shard: all its bytes; else empty */
    struct shard_bytes bytes;   /* used if there is no source */
    struct source *source;      /* NULL if the shard is mapped */
    struct file_stat stat;      /* of its file or object */
    struct point_list points;   /* seek points of a compressed shard */
    struct waypoints *waypoints;
    struct stored_spans *stored; /* its inflated spans on the disk; NULL: they are not kept */
    int direct_fd;               /* for reads past the page cache; -1: none */
    uint32_t direct_alignment;
    bool is_temporary; /* not in the cache: closed as soon as it is unpinned */
    atomic_bool expects_random;
    atomic_bool is_judged; /* its samples were compared, or it is known to be the indexed version */
    atomic_bool is_lost;   /* no sample can be read */
    uint32_t pins;
    struct idle_link link; /* among the shards of its cache that are not pinned */
    struct file_holder files;
};

/* A shard's slot in the cache. Read without a lock if no shard is ever closed. */
struct shard_slot {
    _Atomic(struct open_shard *) opened;
    atomic_bool is_damaged; /* a compressed shard is damaged, rather than another file */
};

struct shard_cache {
    struct index_file *index;
    struct shard_cache_options options;
    struct shard_folder folder;    /* where the shards are */
    struct disk_cache *disk_cache; /* NULL: neither remote shards nor inflated spans are kept */
    struct shard_slot *slots;
    size_t shard_count;
    bool evicts;
    size_t limit;             /* of open shards */
    size_t map_share;         /* taken from the budget of all data sets */
    struct span_cache *spans; /* of compressed shards */
    size_t open_count;        /* guarded by the process lock, like the list below */
    struct idle_list idle;
};

static inline const struct shard_entry *shard_cache_entry(const struct shard_cache *cache,
                                                          uint32_t shard_index) {
    return &index_shards(cache->index)[shard_index].entry;
}

/* Opens the shard's file and compares it with the entry of the index before anything of it is used.
 * Parts that were opened before a failure stay in `shard`, which the caller destroys. Errors: as
 * shard_cache_pin. */
recmap_status open_shard_open(struct open_shard *shard, recmap_error *error);

/* The spans of a compressed shard, for functions of dataset/spans. It borrows the shard. */
struct span_source open_shard_spans(const struct open_shard *shard);

/* Opens the shard's local file once more. `is_same` is false if the name has another file now. */
recmap_status open_shard_reopen(struct source **source, bool *is_same,
                                const struct open_shard *shard, recmap_error *error);

/* Closes and frees it. NULL may be destroyed. */
void open_shard_destroy(struct open_shard *shard);

/* Close the shard of this cache that was used least recently, or one of any cache that holds files.
 * Return false if all are in use. */
bool shard_cache_close_oldest(struct shard_cache *cache);
bool shard_cache_close_file(struct shard_cache *cache);

#endif
