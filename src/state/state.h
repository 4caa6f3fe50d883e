/* The inside of a state: its values and its checksum. Pure: bytes in, values out. */
#ifndef RECMAP_STATE_STATE_H
#define RECMAP_STATE_STATE_H

#include <recmap/state.h>

struct recmap_state {
    recmap_state_info info; /* its text is ours */
};

/* No state is larger, in bytes or as JSON. */
#define STATE_SIZE_MAX ((size_t)16 << 20)

/* NULL where the values can be those of a state, else what is wrong with them: a static text. */
const char *state_fault(const recmap_state_info *info);

/* CORRUPT: `reason`, with advice. */
recmap_status state_fail(recmap_error *error, const char *reason);

/* UNSUPPORTED: a version that only a later recmap knows. */
recmap_status state_fail_newer(recmap_error *error, uint64_t version);

/* The checksum in the bytes of these values. Errors: NO_MEMORY. */
recmap_status state_checksum(uint64_t *checksum, const recmap_state_info *info,
                             recmap_error *error);

#endif
