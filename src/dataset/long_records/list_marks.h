/* Marks: where every few thousandth value of a long list starts, so that a stretch of its values
 * can be read without skipping all that precede it. The marks of a list are made when the list is
 * first used, in one pass over it, and shared by all threads. */
#ifndef RECMAP_DATASET_LONG_RECORDS_LIST_MARKS_H
#define RECMAP_DATASET_LONG_RECORDS_LIST_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists of fewer bytes are skipped through instead. */
enum { LIST_MARKS_MIN_SIZE = 1 << 16 };

/* A list: bytes of a record. */
struct marked_list {
    uint64_t record;
    uint64_t position; /* of the list in its record */
    const uint8_t *data;
    size_t size;
    /* Returns the size of the first `count` values of `size` bytes, or SIZE_MAX if there are fewer.
     */
    size_t (*skip)(const uint8_t *data, size_t size, uint64_t count);
    uint64_t spacing; /* values from one mark to the next */
};

/* The marks of a data set's lists. Creating the cache returns NULL if memory runs out. */
struct list_marks_cache;
struct list_marks_cache *list_marks_cache_create(void);
void list_marks_cache_destroy(struct list_marks_cache *cache);

/* The last mark at or before value `first`: sets the byte at which it is, and the number of its
 * value. Any thread may call it. Returns false if the list has fewer values, or if memory runs out.
 */
bool list_marks_find(size_t *offset, uint64_t *value, struct list_marks_cache *cache,
                     const struct marked_list *list, uint64_t first);

/* Where the values [first, end) of a list are, as far as its marks say. */
struct marked_part {
    uint64_t begin; /* the byte at which value number `value` starts */
    uint64_t value; /* at or before `first` */
    uint64_t end;   /* bytes: of a value at or after `end`, or of the list */
};

/* Returns false if the marks of the list are not kept. list->data is not used. */
bool list_marks_part(struct marked_part *part, struct list_marks_cache *cache,
                     const struct marked_list *list, uint64_t first, uint64_t end);

/* The memory of all marks. */
uint64_t list_marks_cache_size(const struct list_marks_cache *cache);

#endif
