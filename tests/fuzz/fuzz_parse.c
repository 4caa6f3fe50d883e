/* Any bytes as a record that is parsed into columns: asked for what it seems to hold, for some of
 * that, and for other counts, the parser and protobuf-c agree but for the list in against.h; errors
 * say where; and no record spoils those beside it. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "unit/parse/columns/parse_against.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct parse_tally tally = {0, 0, 0};
    for (unsigned leave_out = 0; leave_out < 2; leave_out++) {
        const char *difference = find_parse_difference(&tally, data, size, leave_out);
        if (!difference) continue;
        fprintf(stderr, "%s\n", difference);
        abort();
    }
    return 0;
}
