/* recmap_example_visit against protobuf-c. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_VISIT_AGAINST_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_VISIT_AGAINST_H

#include <stddef.h>
#include <stdint.h>

/* Visits the record. Returns NULL if all parts keep to what the header says, and are those that
 * protobuf-c reads; otherwise the difference. Records with departures (against.h) are not compared
 * with protobuf-c. */
const char *find_visit_difference(const uint8_t *data, size_t size);

#endif
