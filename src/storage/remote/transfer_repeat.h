/* Decides if and when a failed request is repeated. Internal to transfer.c.
 *
 * Requests with failures that may pass are repeated until the option `timeout` ends. A server that
 * does not exist, or never answers right, looks the same at first. So as long as the storage has
 * not had its first answer, or its first right one, a request fails early if its failure looks
 * lasting. */
#ifndef RECMAP_STORAGE_REMOTE_TRANSFER_REPEAT_H
#define RECMAP_STORAGE_REMOTE_TRANSFER_REPEAT_H

#include "storage/remote/transfer_verdict.h"

/* Returns true if the storage was given a range or, if the request is for a text, a text. */
atomic_bool *slot_has_served(const struct slot *slot);

/* Puts a request that failed on the list of those to repeat. Returns false if it is an error. */
bool slot_schedule(struct slot *slot);

#endif
