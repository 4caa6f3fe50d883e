/* Memory for the readers of records: texts that a batch cannot show in its records, because they
 * are written there with escapes, and what a reader needs only while it reads a record. It lives as
 * long as the batch. */
#ifndef RECMAP_PARSE_PLAN_READER_MEMORY_H
#define RECMAP_PARSE_PLAN_READER_MEMORY_H

#include <stddef.h>

/* Zero-initialized, it is empty. */
struct reader_memory {
    struct text_block *blocks; /* the first one has room */
    void *scratch;
    size_t scratch_size;
};

/* Return NULL if memory runs out. A text stays valid until the memory is cleared; the scratch
 * memory is the same in each call. */
char *reader_memory_take(struct reader_memory *memory, size_t size);
void *reader_memory_scratch(struct reader_memory *memory, size_t size);

/* Gives back the last `size` bytes of the text that was taken last. */
void reader_memory_return(struct reader_memory *memory, size_t size);

/* Moves the texts of `other` to `memory`. They stay where they are. */
void reader_memory_join(struct reader_memory *memory, struct reader_memory *other);

/* Forgets the texts, and keeps some memory for the next ones. */
void reader_memory_clear(struct reader_memory *memory);
void reader_memory_deinit(struct reader_memory *memory);

#endif
