/* usage: write_mutated FIRST COUNT
 * Writes shards and mutated indexes of them, m0001.rmx and so on by their seeds, into the current
 * folder: for tests of the command and of the Python package. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/index/mutation_samples.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    samples_write();
    for (uint64_t seed = first; seed < first + count; seed++) {
        char path[32];
        snprintf(path, sizeof path, "m%04u.rmx", (unsigned)seed);
        samples_mutate(path, seed);
    }
    samples_deinit();
    return 0;
}
