/* Building and opening indexes in a test: one call each. What fails ends the test. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_BUILD_H
#define RECMAP_TESTS_SUPPORT_INDEX_BUILD_H

#include <recmap/recmap.h>

#include "support/buffer.h"

/* Ends the test with the error's text unless `status` is OK. */
#define ASSERT_OK(status, error) assert_ok(status, error, #status, __FILE__, __LINE__)
void assert_ok(recmap_status status, const recmap_error *error, const char *call, const char *file,
               int line);

/* Indexes `count` shards. NULL options are the defaults. */
recmap_index_summary index_build(const char *path, const recmap_index_options *options,
                                 const char *const *shards, size_t count);

/* The same for a build that fails: returns its status. */
recmap_status index_try(const char *path, const recmap_index_options *options,
                        const char *const *shards, size_t count, recmap_error *error);

/* One shard, given as its bytes, is written to `shard` and indexed. */
recmap_index_summary index_bytes(const char *path, const recmap_index_options *options,
                                 const char *shard, const struct buffer *bytes);

recmap_dataset *dataset_open(const char *path, const recmap_dataset_options *options);

/* Names for test shards: "s00000" and so on, `count` of them in a list that lives on. */
const char *const *shard_names(size_t count);

/* Two ids of the same 48-bit hash. */
#define SAME_HASH "id13326665"
#define OF_SAME_HASH "id33918360"

recmap_value text_value(const char *text);
recmap_value int64_value(int64_t value);

#endif
