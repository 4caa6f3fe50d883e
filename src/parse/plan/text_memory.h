/* Memory for texts that a batch cannot show in its records, because they are written there with
 * escapes. It lives as long as the batch. */
#ifndef RECMAP_PARSE_PLAN_TEXT_MEMORY_H
#define RECMAP_PARSE_PLAN_TEXT_MEMORY_H

#include <stddef.h>

/* Zero-initialized, it is empty. */
struct text_memory {
    struct text_block *blocks; /* the first one has room */
    void *scratch;
    size_t scratch_size;
};

/* Return NULL if memory runs out. A text stays valid until the memory is cleared; the scratch
 * memory is the same in each call. */
char *text_memory_take(struct text_memory *memory, size_t size);
void *text_memory_scratch(struct text_memory *memory, size_t size);

/* Gives back the last `size` bytes of the text that was taken last. */
void text_memory_return(struct text_memory *memory, size_t size);

/* Moves the texts of `other` to `memory`. They stay where they are. */
void text_memory_join(struct text_memory *memory, struct text_memory *other);

/* Forgets the texts, and keeps some memory for the next ones. */
void text_memory_clear(struct text_memory *memory);
void text_memory_deinit(struct text_memory *memory);

#endif
