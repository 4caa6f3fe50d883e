/* Memory for the bytes that a batch reads. Allocations end together, and the next ones reuse their
 * memory: pages that are new to a process cost as much CPU time as copying a record into them. */
#ifndef RECMAP_DATASET_BATCH_RECORD_MEMORY_H
#define RECMAP_DATASET_BATCH_RECORD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, it is empty. */
struct record_memory {
    struct memory_block *first, *last;
    struct memory_block *current; /* the blocks after it are free; NULL: there are no blocks */
    size_t used;                  /* bytes of the current block */
};

/* Returns `size` bytes that start at a multiple of 16, or NULL without memory. */
uint8_t *record_memory_allocate(struct record_memory *memory, size_t size);

/* Ends all allocations. At most `kept_max` bytes are kept for the next ones. */
void record_memory_clear(struct record_memory *memory, size_t kept_max);
void record_memory_deinit(struct record_memory *memory);

#endif
