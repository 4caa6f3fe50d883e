/* Which numbers a float of 32 bits does not hold closely, or not as they are written. */
#ifndef RECMAP_BASE_TEXT_ROUNDING_H
#define RECMAP_BASE_TEXT_ROUNDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/json_reader.h"

/* Returns true if a float changes the number by more than its digits suggest: one beyond 2^24,
 * where a float has no fractions and not every integer, unless it is beyond 64 bits; or one that
 * becomes 0. Such a number is usually a timestamp or an id. */
bool rounding_is_far_json(const struct json_number *number);

/* Returns true if a float holds the number as it is written: exactly, or, if it is not an integer,
 * as the shortest decimal of the float, such as 0.1. False if the number is beyond floats. */
bool rounding_is_none_json(const struct json_number *number);

/* Returns true if a double does not hold the integer exactly. */
bool rounding_is_far_double(int64_t integer);

/* Returns true if the number is written as programs write that float: as the decimal of the fewest
 * digits, at least 6, that reads back as it. Then it comes from a float and is not rounded again.
 */
bool rounding_is_shortest(const struct json_number *number, float value);

#endif
