/* A state: the place of a run in its order, as saved in a checkpoint.
 *
 * It names the data set, the order, the epoch, and the position up to which all ranks together have
 * consumed records. It does not contain ranks, world size or batch size, so a run with any others
 * can resume from it. docs/formats/checkpoint.md specifies its JSON. */
#ifndef RECMAP_STATE_H
#define RECMAP_STATE_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable. Threads: every function may be called from many threads at once. */
typedef struct recmap_state recmap_state;

#define RECMAP_STATE_FORMAT_VERSION 1

/* The maximum epoch, position, and number of records or positions: 2^62. */
#define RECMAP_STATE_NUMBER_MAX ((uint64_t)1 << 62)

/* The contents of a state. */
typedef struct recmap_state_info {
    uint32_t format_version; /* RECMAP_STATE_FORMAT_VERSION */
    recmap_fingerprint fingerprint;
    uint64_t record_count;   /* of the data set */
    uint64_t position_count; /* positions per epoch */
    uint64_t epoch;
    uint64_t position;    /* 0 to position_count */
    const char *order;    /* as recmap_order_describe writes it; in a state it lives as long as the
                           * state */
    int has_draws;        /* not 0 if the run has random images, or a draw_seed that is not 0: then
                             another draw_seed is MISMATCH */
    uint64_t draw_seed;   /* see recmap_loader_options; 0 without draws */
    uint64_t reserved[8]; /* 0; room for later versions */
} recmap_state_info;

/* Creates a state of these values, which the caller destroys. The text is copied without the
 * numbers of records and rows of row orders, which follow from other members. The comparisons below
 * accept it with and without them. Errors: INVALID for values that no state can
 * have, NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_create(recmap_state **state,
                                                              const recmap_state_info *info,
                                                              recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_state_destroy(recmap_state *state);

/* Never fails; valid until the state is destroyed. */
RECMAP_API const recmap_state_info *recmap_state_get_info(const recmap_state *state);

/* Appends the state as one JSON object. Its members may be reordered and reformatted, but not
 * changed: the checksum covers their values. Equal states give equal text: 200 to 400 bytes for a
 * plain shuffle, whatever the number of records. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_to_json(recmap_text *text,
                                                               const recmap_state *state,
                                                               recmap_error *error);

/* Reads a state from `size` bytes of JSON, which may be untrusted: damaged text is rejected.
 * Errors: CORRUPT, saying what is wrong; UNSUPPORTED for a newer format version; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_from_json(recmap_state **state,
                                                                 const char *text, size_t size,
                                                                 recmap_error *error);

/* Reads a state from the `size` bytes that recmap_state_to_bytes of recmap 0.2.0 appended. All
 * versions 1.x read them. Errors: as recmap_state_from_json. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_from_bytes(recmap_state **state,
                                                                  const void *bytes, size_t size,
                                                                  recmap_error *error);

/* Checks that the state belongs to this data set and this order. Compares fingerprint,
 * record_count, position_count and order with those of `expected`, and the seed of the draws if
 * both have draws, and ignores its other members. Errors: MISMATCH, saying what differs, with both
 * values. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_check(const recmap_state *state,
                                                             const recmap_state_info *expected,
                                                             recmap_error *error);

/* The same, but the order of `expected` may also be a mixture that continues the state's: with the
 * same records at all positions before the state's, and other weights or more sources from there
 * on (see recmap_order_blended). Errors: as recmap_state_check. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_state_check_continued(
    const recmap_state *state, const recmap_state_info *expected, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
