/* tf.Example messages with features of one value, built field by field. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_FEATURES_H
#define RECMAP_TESTS_SUPPORT_SHARDS_FEATURES_H

#include "support/buffer.h"

/* Append a feature to `features`. */
void features_add_int64(struct buffer *features, const char *name, int64_t value);
void features_add_float(struct buffer *features, const char *name, float value);
void features_add_bytes(struct buffer *features, const char *name, const void *data, size_t size);
void features_add_text(struct buffer *features, const char *name, const char *text);

/* Appends a feature that has two int64 values, or none. */
void features_add_pair(struct buffer *features, const char *name);
void features_add_nothing(struct buffer *features, const char *name);

/* Appends the Example that has these features to `example`, and empties `features`. */
void features_end(struct buffer *example, struct buffer *features);

#endif
