/* A state: where a run stands in its order, as a checkpoint keeps it.
 *
 * It says what was consumed and of what: which data set, which order, which epoch, and the position
 * in it up to which all ranks together have consumed. Ranks, world and batch sizes are no part of
 * it: any others go on from there. docs/checkpoint.md specifies its bytes and its JSON. */
#ifndef RECMAP_STATE_H
#define RECMAP_STATE_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable. Threads: every function may be called from many threads at once. */
typedef struct recmap_state recmap_state;

#define RECMAP_STATE_FORMAT_VERSION 1

/* The largest epoch, position, and number of records or positions: 2^62. */
#define RECMAP_STATE_NUMBER_MAX ((uint64_t)1 << 62)

/* What is in it. */
typedef struct recmap_state_info {
    uint32_t format_version; /* RECMAP_STATE_FORMAT_VERSION */
    recmap_fingerprint fingerprint;
    uint64_t record_count;   /* of the data set */
    uint64_t position_count; /* positions an epoch */
    uint64_t epoch;
    uint64_t position; /* 0 to position_count */
    const char *order; /* as recmap_order_describe gives it; lives as long as the state */
} recmap_state_info;

/* A state of these values; the text is copied.
 * Errors: INVALID for values that no state has, NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_create(recmap_state **state,
                                                              const recmap_state_info *info,
                                                              recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_state_destroy(recmap_state *state);

/* Never fails; valid until the state is destroyed. */
RECMAP_API const recmap_state_info *recmap_state_get_info(const recmap_state *state);

/* Appends the state as bytes: for a plain shuffle at most 300 of any number of records. Equal
 * states give equal bytes. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_to_bytes(recmap_text *bytes,
                                                                const recmap_state *state,
                                                                recmap_error *error);

/* The state in `size` bytes, which may be any: damaged ones do not load, as the last eight are a
 * checksum over the others.
 * Errors: CORRUPT, saying what is wrong; UNSUPPORTED for a newer format version; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_from_bytes(recmap_state **state,
                                                                  const void *bytes, size_t size,
                                                                  recmap_error *error);

/* Appends the same as one JSON object. Its members may be put in another order and spaced in
 * another way, but not changed: the checksum is over their values. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_to_json(recmap_text *text,
                                                               const recmap_state *state,
                                                               recmap_error *error);

/* Errors: as recmap_state_from_bytes. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_from_json(recmap_state **state,
                                                                 const char *text, size_t size,
                                                                 recmap_error *error);

/* Whether the state belongs to this data set and this order: fingerprint, record_count,
 * position_count and order of `expected`; its other members are not looked at.
 * Errors: MISMATCH, naming each field that differs with both values. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_check(const recmap_state *state,
                                                             const recmap_state_info *expected,
                                                             recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
