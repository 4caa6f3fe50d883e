/* A record: bytes that lie in a shard, and what is lifted out of them at index time. */
#ifndef RECMAP_RECORD_H
#define RECMAP_RECORD_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of one record's payload. It copies nothing and owns nothing but its pin.
 *
 * Lifetime: `data` stays valid until recmap_record_release or until the data set is closed,
 * whichever comes first. A record that is never released keeps its shard mapped (or, in
 * RECMAP_ACCESS_READ, its buffer allocated) until the data set is closed. */
typedef struct recmap_record {
    const uint8_t *data;
    size_t size;
    uint64_t number; /* of the record in its data set */
    void *pin;       /* private */
} recmap_record;

/* Gives the view up. Releasing twice, or a record of zeros, does nothing. Any thread may do it. */
RECMAP_API void recmap_record_release(recmap_record *record);

typedef enum recmap_type {
    RECMAP_TYPE_NONE = 0, /* no value */
    RECMAP_TYPE_INT64 = 1,
    RECMAP_TYPE_FLOAT = 2, /* IEEE 754, 32 bits */
    RECMAP_TYPE_BYTES = 3,
} recmap_type;

/* One scalar out of a record. `bytes` points into the record or into memory of the callback's. */
typedef struct recmap_value {
    recmap_type type;
    union {
        int64_t int64;
        float float32;
        struct {
            const uint8_t *data;
            size_t size;
        } bytes;
    } as;
} recmap_value;

/* Reads the id and the lifted columns out of a record that is no tf.Example.
 *
 * `id` (NULL when no id is wanted) and `columns[0..column_count)` come in as RECMAP_TYPE_NONE and
 * are set where the record has a value: an id of type INT64 or BYTES; a column of any type, the
 * same in every record. Bytes may point into the record, or anywhere that stays unchanged until
 * the callback is called again on the same thread.
 *
 * Threads: called from several threads at once, and in no particular order; it must depend on the
 * record's bytes alone. `record->number` is not known yet and is RECMAP_NO_RECORD. It may be called
 * for bytes that later turn out to be no record, and must bear any bytes.
 * Errors: any status but RECMAP_OK fails the build with `message` (NUL-terminated, at most
 * `message_capacity` bytes) as its reason. */
typedef recmap_status (*recmap_extract_fn)(void *context, const recmap_record *record,
                                           recmap_value *id, recmap_value *columns,
                                           size_t column_count, char *message,
                                           size_t message_capacity);

#ifdef __cplusplus
}
#endif
#endif
