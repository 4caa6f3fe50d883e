/* The two paths for reading a record; see read_record.h. */
#ifndef RECMAP_PARSE_DECODE_READ_PATHS_H
#define RECMAP_PARSE_DECODE_READ_PATHS_H

#include "parse/decode/read_scratch.h"

/* Reads any bytes. On failure the sinks are not rolled back. */
bool read_slow(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *parser,
               const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

/* Returns the offset of a slot's entry in a record that was read, or SIZE_MAX if it has none. */
size_t read_entry_offset(const recmap_parser *parser, size_t slot, const uint8_t *data,
                         size_t size);

extern read_fast_function read_fast_portable;
#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define READ_FAST_X86 1
extern read_fast_function read_fast_avx2;
#endif

/* Returns the fastest path that the CPU supports. */
read_fast_function *read_fast_best(void);

/* The result of reading one entry for a slot, whatever its size. */
enum entry_outcome {
    ENTRY_TAKEN,
    ENTRY_OTHER,   /* it has another name */
    ENTRY_UNUSUAL, /* the slow path must read it */
};
enum entry_outcome read_entry_any(struct sink *sink, const struct slot *slot, const uint8_t *bytes,
                                  const uint8_t *end, size_t row);

/* Finds the key and the value of an entry that contains nothing else. */
bool read_entry_open(struct wire *key, struct wire *value, const uint8_t *bytes,
                     const uint8_t *end);

/* Finds the list of a value that contains nothing else. */
bool read_entry_open_list(struct wire *contents, recmap_type kind, struct wire value);

/* Reads a run of values of the slot's kind: packed values or a single bytes value. Returns whether
 * it was accepted. */
bool read_entry_run(struct sink *sink, const struct slot *slot, const uint8_t *data, size_t size,
                    size_t row);

/* Handles a feature that row `row` lacks. Returns false if the feature is required. */
bool read_entry_missing(struct sink *sink, const struct slot *slot, size_t row);

/* Returns whether the entry at `bytes` has a name that is not in `names` and is well-formed except
 * for its value, which is not examined. */
bool read_entry_is_unasked(const struct example_names *names, const uint8_t *bytes,
                           const uint8_t *end);

#endif
