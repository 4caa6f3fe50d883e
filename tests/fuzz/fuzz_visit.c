/* Any bytes as a tf.Example or tf.SequenceExample: they are refused before the first part, or their
 * parts are consistent and are those that protobuf-c reads. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/parse/example/visit_against.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *difference = find_visit_difference(data, size);
    if (!difference) return 0;
    fprintf(stderr, "%s\n", difference);
    abort();
}
