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

/* Creates a state that was read, with this checksum. The order stays as it is: a state that is read
 * and written again keeps its text. Errors: CORRUPT for values that no state can have, or that have
 * another checksum; NO_MEMORY. */
recmap_status state_create_read(recmap_state **state, const recmap_state_info *info,
                                uint64_t checksum, recmap_error *error);

/* Fails with CORRUPT: `reason`, with advice. */
recmap_status state_fail(recmap_error *error, const char *reason);

/* Fails with UNSUPPORTED: a later version of recmap wrote the state. */
recmap_status state_fail_newer(recmap_error *error, uint64_t version);

/* The checksum of these values, which docs/formats/checkpoint.md defines. Errors: NO_MEMORY. */
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
