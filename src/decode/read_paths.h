/* The two ways of reading a record, see read_record.h. */
#ifndef RECMAP_DECODE_READ_WAYS_H
#define RECMAP_DECODE_READ_WAYS_H

#include "decode/read_scratch.h"

/* Takes any bytes. On false the sinks are not rolled back. */
bool read_slow(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *plan,
               const uint8_t *data, size_t size, size_t row, struct read_fault *fault);

/* The byte at which the entry of a slot's feature begins in a record that was read; SIZE_MAX where
 * it has none. */
size_t read_entry_offset(const recmap_parser *plan, size_t slot, const uint8_t *data, size_t size);

extern read_fast_function read_fast_portable;
#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
#define READ_FAST_X86 1
extern read_fast_function read_fast_avx2;
#endif

/* The best that this processor has. */
read_fast_function *read_fast_best(void);

/* The entry of the slot's name at `at`, however long it is: its values go to the sink. */
typedef enum entry_outcome {
    ENTRY_TAKEN,
    ENTRY_OTHER,   /* it has another name */
    ENTRY_UNUSUAL, /* the slow way must look at it */
} entry_outcome;
entry_outcome read_entry_any(struct sink *sink, const struct slot *slot, const uint8_t *bytes,
                             const uint8_t *end, size_t row);

/* The values of the slot alone, in one run: packed, or one bytes value. Whether they are taken. */
bool read_entry_run(struct sink *sink, const struct slot *slot, const uint8_t *data, size_t size,
                    size_t row);

/* Row `row` has no such feature. False when it must have it. */
bool read_entry_missing(struct sink *sink, const struct slot *slot, size_t row);

/* Whether the entry at `at` is of a name that is not among `names`, and well-formed but for its
 * value. */
bool read_entry_is_unasked(const struct example_names *names, const uint8_t *bytes,
                           const uint8_t *end);

#endif
