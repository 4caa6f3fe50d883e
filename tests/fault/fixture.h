/* A small data set in a folder of its own, whose every byte is known: shards of tf.Examples, an old
 * index of the first of them, and what the new index over all of them must look like. */
#ifndef RECMAP_TESTS_FAULT_FIXTURE_H
#define RECMAP_TESTS_FAULT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/recmap.h>

enum {
    FIXTURE_SHARDS = 3,
    FIXTURE_OLD_SHARDS = 2,
    FIXTURE_SHARD_RECORDS = 60,
    FIXTURE_OLD_RECORDS = FIXTURE_OLD_SHARDS * FIXTURE_SHARD_RECORDS,
    FIXTURE_RECORDS = FIXTURE_SHARDS * FIXTURE_SHARD_RECORDS,
    PAYLOAD_MAX = 4096,
    PATH_LIMIT = 256,
};

/* Whole files; abort on failure. `bytes` is malloc'ed. */
struct file_bytes {
    uint8_t *bytes;
    size_t size;
};

/* False when there is no such file. */
bool file_bytes_load(struct file_bytes *file, const char *path);
void file_bytes_save(const char *path, const void *bytes, size_t size);
bool file_bytes_equal(const struct file_bytes *file, const char *path);

struct fixture {
    char folder[128];
    char index[PATH_LIMIT];
    char shards[FIXTURE_SHARDS][PATH_LIMIT];
    struct file_bytes old_index; /* of the first FIXTURE_OLD_SHARDS */
    struct file_bytes new_index; /* of all */
};

/* Makes the folder with shards, and the old index in its place. Aborts on failure. */
void fixture_create(struct fixture *fixture);
/* The same data set, its shards compressed by GZIP. */
void fixture_create_compressed(struct fixture *fixture);
void fixture_destroy(struct fixture *fixture);

/* The options of both indexes: ids, two columns, one thread. */
recmap_index_options fixture_options(void);

/* Puts the old index back and removes what else is there. */
void fixture_reset(const struct fixture *fixture);

/* NULL when the index is exactly the old one (or, where `may_be_new`, the new one; or, where
 * `may_be_old` is false, only that), and nothing else but the shards is in the folder; else what is
 * wrong. */
const char *fixture_check(const struct fixture *fixture, bool may_be_old, bool may_be_new);

/* Names in a folder that look temporary. */
size_t count_temporaries(const char *folder);

/* Builds the new index: by appending to the old one, or from all shards. */
recmap_status fixture_append(const struct fixture *fixture, recmap_error *error);
recmap_status fixture_rebuild(const struct fixture *fixture, unsigned thread_count,
                              recmap_error *error);

/* Record `number` of every data set of these tests: a tf.Example of {"id": "id-NUMBER", "label":
 * 3 * NUMBER - 7, "name": "n<NUMBER % 5>", "image": bytes}. Returns its size. */
size_t payload_write(uint8_t bytes[PAYLOAD_MAX], uint64_t number);
bool payload_holds(const recmap_record *record, uint64_t number);
recmap_value payload_id(char text[32], uint64_t number);

/* A TFRecord file of records [first, first + count). Aborts on failure. */
void shard_write(const char *path, uint64_t first, uint64_t count);

/* Compresses a shard in its place by GZIP. Aborts on failure. */
void shard_compress(const char *path);

/* Reads all records, one by one and gathered, and finds one by id: NULL, or what is wrong. An error
 * is wrong too; `error` (or NULL) then has it. */
const char *dataset_check_all(recmap_dataset *dataset, uint64_t record_count, recmap_error *error);

/* Removes a folder and all in it, two levels deep. */
void folder_remove(const char *folder);

/* A fresh folder in memory, if possible. Aborts on failure. */
void folder_create(char *folder, size_t capacity);

bool test_is_long(void);
uint64_t test_seed(void); /* printed once */
uint64_t choose_next(uint64_t *state);
uint64_t choose_below(uint64_t *state, uint64_t limit);

/* Stops the test program: its own preparation failed. */
void require(bool holds, const char *reason);

#endif
