/* A record: bytes in a shard, and the values that are lifted from them when the index is built. */
#ifndef RECMAP_RECORD_H
#define RECMAP_RECORD_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of one record's payload. It copies nothing and owns only its pin.
 *
 * Lifetime: `data` is valid until recmap_record_release is called or the data set is closed,
 * whichever comes first. A record that is never released keeps its shard mapped (or, with
 * RECMAP_ACCESS_READ, its buffer allocated) until the data set is closed. */
typedef struct recmap_record {
    const uint8_t *data;
    size_t size;
    uint64_t number; /* of the record in its data set */
    void *pin;       /* private */
} recmap_record;

/* What to do about bytes that are not a record, a record whose check fails (RECMAP_CORRUPT), and a
 * record that a parser rejects (CORRUPT, FEATURE). All other errors are always raised: a file that
 * cannot be read, or that is not the file that was indexed, concerns more than one record. */
typedef enum recmap_on_bad_record {
    RECMAP_ON_BAD_RECORD_ERROR = 0,      /* fail, naming the first one */
    RECMAP_ON_BAD_RECORD_SKIP = 1,       /* an index numbers the good records and lists the damaged
                                            ranges; a loader leaves it out, its batch is smaller */
    RECMAP_ON_BAD_RECORD_SUBSTITUTE = 2, /* loaders only: the next good record of the epoch takes
                                            its place too; for a row with a bad record, the next
                                            good row */
} recmap_on_bad_record;

/* Releases the view and clears the record. Releasing a record twice, or a zeroed record, does
 * nothing. Threads: any. */
RECMAP_API void recmap_record_release(recmap_record *record);

typedef enum recmap_type {
    RECMAP_TYPE_NONE = 0, /* no value */
    RECMAP_TYPE_INT64 = 1,
    RECMAP_TYPE_FLOAT = 2, /* IEEE 754, 32 bits */
    RECMAP_TYPE_BYTES = 3,
    RECMAP_TYPE_FLOAT64 = 4, /* IEEE 754, 64 bits: of lifted columns only, never of a feature */
} recmap_type;

/* The name of a type: "int64", "float", "bytes", "float64", or "none" for NONE and unknown values.
 * A static string. */
RECMAP_API const char *recmap_type_name(recmap_type type);

/* One scalar value of a record. `bytes` points into the record, or into memory of the callback that
 * set it. */
typedef struct recmap_value {
    recmap_type type;
    union {
        int64_t int64;
        float float32;
        double float64;
        struct {
            const uint8_t *data;
            size_t size;
        } bytes;
    } as;
} recmap_value;

/* Reads the id and the lifted columns of a record that is not a tf.Example.
 *
 * Outputs: `id` (NULL if no id is needed) and `columns[0..column_count)` are RECMAP_TYPE_NONE on
 * entry. Set those for which the record has a value: an id of type INT64 or BYTES; a column of any
 * type, the same in every record. Bytes may point into the record, or to memory that does not
 * change until the callback is called again on the same thread.
 *
 * Threads: called on several threads at once, in no particular order. The result must depend only
 * on the record's bytes. `record->number` is RECMAP_NO_RECORD, because it is not known yet. The
 * callback may be called for bytes that later turn out not to be a record, so it must handle any
 * bytes.
 *
 * Errors: any status but RECMAP_OK fails the build. Write the reason to `message` (NUL-terminated,
 * at most `message_capacity` bytes). */
typedef recmap_status (*recmap_lift_fn)(const recmap_record *record, recmap_value *id,
                                        recmap_value *columns, size_t column_count, char *message,
                                        size_t message_capacity, void *context);

#ifdef __cplusplus
}
#endif
#endif
