/* What TFDS (tensorflow_datasets) writes beside the shards that it prepares: dataset_info.json.
 * The text is untrusted. Pure. python/recmap/_tfds/metadata.py reads the same for opening. */
#ifndef RECMAP_DATASET_DOCTOR_TFDS_INFO_H
#define RECMAP_DATASET_DOCTOR_TFDS_INFO_H

#include <stdbool.h>

#include <recmap/status.h>

struct tfds_split {
    char *name;
    char *file_template; /* NULL: the usual one */
    uint64_t *lengths;   /* records of each shard */
    size_t shard_count;
    size_t capacity;
    uint64_t byte_count; /* of all examples; 0: unknown */
};

struct tfds_info {
    char *name;
    bool is_tfrecord; /* the shards are TFRecord files */
    struct tfds_split *splits;
    size_t split_count;
    size_t capacity;
};

/* Deinit also after an error. Errors: UNSUPPORTED if another program wrote the file: others use its
 * name, too, but only TFDS names the data set and lists its splits; CORRUPT, with what is wrong;
 * NO_MEMORY. */
recmap_status tfds_info_read(struct tfds_info *info, const char *text, size_t size,
                             recmap_error *error);
void tfds_info_deinit(struct tfds_info *info);

/* Writes the name of a shard's file, without folders, shortened to fit the capacity. */
void tfds_info_write_file(char *name, size_t capacity, const struct tfds_info *info,
                          const struct tfds_split *split, size_t shard);

#endif
