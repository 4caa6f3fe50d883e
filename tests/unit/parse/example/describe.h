/* An Example as one line in protobuf's text format, the way libprotobuf prints it. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_DESCRIBE_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_DESCRIBE_H

#include <recmap/text.h>

/* Replaces `text`: "{features { feature { key: "a" value { int64_list { value: 1 } } } }}", or
 * "REJECT: reason" for bytes that are not an Example. Ends the program if out of memory. */
void describe(recmap_text *text, const uint8_t *data, size_t size);

#endif
