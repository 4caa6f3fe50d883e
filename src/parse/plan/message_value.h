/* One number of a message as an element of a column. */
#ifndef RECMAP_PARSE_PLAN_MESSAGE_VALUE_H
#define RECMAP_PARSE_PLAN_MESSAGE_VALUE_H

#include <string.h>

#include "parse/plan/message_plan.h"

/* Reverses the bits of elements that are smaller than a word, on machines that store the high bytes
 * first: the first bytes in memory are always the element. */
static inline uint64_t message_value_align(uint64_t bits, unsigned size) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return bits << (64 - 8 * size);
#else
    (void)size;
    return bits;
#endif
}

/* Reads an element of `size` bytes, at most 8, into a word that begins with it. */
static inline void message_value_load(uint64_t *word, const void *element, unsigned size) {
    *word = 0;
    memcpy(word, element, size);
}

/* Converts a float or a double to an element; its bits are the first bytes of `word`. Returns false
 * if a finite value would become infinite. */
bool message_value_float(uint64_t *word, enum message_form form, recmap_element element,
                         uint64_t bits);

/* Converts the bits of an encoded value, of any form but FORM_BYTES. Returns false if the target's
 * element cannot hold it. */
static inline bool message_value_convert(uint64_t *word, const struct message_target *target,
                                         uint64_t bits) {
    enum message_form form = (enum message_form)target->form;
    if (form == FORM_FLOAT || form == FORM_DOUBLE)
        return message_value_float(word, form, (recmap_element)target->element, bits);
    uint64_t value = message_integer(form, bits);
    *word = message_value_align(value, target->size);
    return value - (uint64_t)target->low <= target->span;
}

#endif
