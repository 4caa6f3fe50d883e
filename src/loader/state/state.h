/* The internals of a state: its values and its checksum. Pure: bytes in, values out. */
#ifndef RECMAP_LOADER_STATE_STATE_H
#define RECMAP_LOADER_STATE_STATE_H

#include <recmap/state.h>
#include <stdbool.h>

struct recmap_state {
    recmap_state_info info;
    char *order; /* of the info */
};

/* The largest state, in bytes or as JSON. */
#define STATE_SIZE_MAX ((size_t)16 << 20)

/* Checks the values of a state. Returns NULL, or a static text that says what is wrong. */
const char *state_fault(const recmap_state_info *info);

/* Creates a state of values without a fault, with the order as it is: a state that is read and
 * written again keeps its bytes. Errors: NO_MEMORY. */
recmap_status state_allocate(recmap_state **state, const recmap_state_info *info,
                             recmap_error *error);

/* Fails with CORRUPT: `reason`, with advice. */
recmap_status state_fail(recmap_error *error, const char *reason);

/* Fails with UNSUPPORTED: a later version of recmap wrote the state. */
recmap_status state_fail_newer(recmap_error *error, uint64_t version);

/* The checksum of these values' bytes. Errors: NO_MEMORY. */
recmap_status state_checksum(uint64_t *checksum, const recmap_state_info *info,
                             recmap_error *error);

/* How a state is compared with what is here. */
struct state_rule {
    bool accepts_continued; /* an order that continues the state's: recmap_state_check_continued */
    bool has_grown; /* the data set here begins with the records of the state's; for the message */
};

/* As recmap_state_check, by this rule. */
recmap_status state_compare(const recmap_state *state, const recmap_state_info *expected,
                            struct state_rule rule, recmap_error *error);

#endif
