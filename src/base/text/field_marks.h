/* Finds the bytes of a row that its reader must look at: separators, quotes, and control characters
 * up to CR, which NUL, LF and CR are among. One pass over the row finds all of them, many bytes at
 * a time where the CPU's base instructions allow it. */
#ifndef RECMAP_BASE_TEXT_FIELD_MARKS_H
#define RECMAP_BASE_TEXT_FIELD_MARKS_H

#include <string.h>

#include "base/text/find_byte.h"

struct field_marks {
    const char *block; /* the bytes that `mask` is about */
    const char *next;  /* after the block */
    const char *start, *end;
    uint64_t mask; /* of the block: the marks that are left */
    char separator, quote;
};

/* Begins at `start`. The text up to `end` is borrowed. */
static inline void field_marks_init(struct field_marks *marks, const char *start, const char *end,
                                    char separator, char quote) {
    *marks = (struct field_marks){.block = start,
                                  .next = start,
                                  .start = start,
                                  .end = end,
                                  .separator = separator,
                                  .quote = quote};
}

/* The block at the end of a row, which is shorter than others. Bytes past the end must not be read:
 * the marks are those of the last whole block, or of a copy if there is none. */
static inline uint64_t field_marks_last(const struct field_marks *marks, size_t size) {
    size_t missing = FIND_BYTE_STEP - size;
    if ((size_t)(marks->block - marks->start) >= missing) {
        const char *block = marks->end - FIND_BYTE_STEP;
        uint64_t mask = find_control_mask(block, marks->separator, marks->quote);
        return mask >> (missing << FIND_BYTE_SHIFT);
    }
    char copy[FIND_BYTE_STEP];
    memset(copy, ' ', sizeof copy);
    memcpy(copy, marks->block, size);
    uint64_t mask = find_control_mask(copy, marks->separator, marks->quote);
    return mask & ((UINT64_C(1) << (size << FIND_BYTE_SHIFT)) - 1);
}

/* Returns the next mark, or the end of the text. */
static inline const char *field_marks_next(struct field_marks *marks) {
    while (!marks->mask) {
        size_t left = (size_t)(marks->end - marks->next);
        if (!left) return marks->end;
        marks->block = marks->next;
        if (left >= FIND_BYTE_STEP) {
            marks->next += FIND_BYTE_STEP;
            marks->mask = find_control_mask(marks->block, marks->separator, marks->quote);
        } else {
            marks->next = marks->end;
            marks->mask = field_marks_last(marks, left);
        }
    }
    const char *mark = marks->block + (__builtin_ctzll(marks->mask) >> FIND_BYTE_SHIFT);
    marks->mask &= marks->mask - 1;
    return mark;
}

#endif
