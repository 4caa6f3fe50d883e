#include "parse/plan/message_value.h"

#include <math.h>

#include "parse/plan/convert.h"

/* Rounds a double to a float so that rounding the float again, to 16 bits, gives the nearest such
 * number of the double: if bits are lost, the last bit of the float is set. */
static float narrow_odd(double value) {
    float narrow = (float)value;
    uint32_t bits;
    if (isnan(value) || isinf(narrow) || (double)narrow == value) return narrow;
    memcpy(&bits, &narrow, sizeof bits);
    if (bits & 1) return narrow;
    /* The two floats around the value differ by 1 in their bits, and the odd one is wanted. */
    bool is_above = fabs((double)narrow) > fabs(value);
    bits = is_above ? bits - 1 : bits + 1;
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

static bool convert_double(uint64_t *word, recmap_element element, double value) {
    *word = 0;
    if (element == RECMAP_ELEMENT_FLOAT64) {
        memcpy(word, &value, sizeof value);
        return true;
    }
    float narrow = element == RECMAP_ELEMENT_FLOAT32 ? (float)value : narrow_odd(value);
    if (isinf(narrow) && !isinf(value)) return false;
    return convert_float(word, element, &narrow, 1) == 1;
}

bool message_value_float(uint64_t *word, enum message_form form, recmap_element element,
                         uint64_t bits) {
    if (form == FORM_DOUBLE) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return convert_double(word, element, value);
    }
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    *word = 0;
    return convert_float(word, element, &value, 1) == 1;
}
