/* What an emulator counts instructions of: `instructions CASE PATH ROUNDS` does the same work
 * ROUNDS times. bench/count-aarch64 runs it. It is built apart from the library, so it includes
 * only the code that it runs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/permutation/permutation.h"
#include "parse/varints/varints.h"

enum { COUNT = 1024, VARINT_BYTES = 10 };

static uint8_t bytes[COUNT * VARINT_BYTES];
static int64_t values[COUNT + VARINTS_SLACK];
static uint64_t numbers[COUNT];

static size_t put_varint(uint8_t *out, uint64_t value) {
    size_t size = 0;
    for (; value >= 128; value >>= 7) out[size++] = (uint8_t)(value | 128);
    out[size++] = (uint8_t)value;
    return size;
}

/* Random numbers below `limit`. Returns the size of their varints. */
static size_t put_varints(uint64_t limit) {
    uint64_t state = 1;
    size_t size = 0;
    for (int i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size += put_varint(bytes + size, (state >> 11) % limit);
    }
    return size;
}

static int run_varints(uint64_t limit, const char *path, int rounds) {
    varints_function *decode = varints_portable;
    size_t size = put_varints(limit), found = COUNT;
#ifdef VARINTS_NEON
    if (strcmp(path, "neon") == 0) decode = varints_neon;
#endif
    for (int i = 0; i < rounds; i++) found = decode(values, COUNT, bytes, size);
    return found != COUNT;
}

static int run_permutation(uint64_t n, const char *path, int rounds) {
    struct permutation permutation;
    permutation_init(&permutation, n, 7, 0, 0);
    for (uint64_t i = 0; i < COUNT; i++) numbers[i] = i * (n / COUNT);
    if (!permutation_force(strcmp(path, "neon") == 0 ? PERMUTATION_NEON : PERMUTATION_PORTABLE))
        return 1;
    for (int i = 0; i < rounds; i++) permutation_at(&permutation, numbers, numbers, COUNT);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const char *path = argv[2];
    int rounds = (int)strtol(argv[3], NULL, 10);
    if (strcmp(argv[1], "varints_7") == 0) return run_varints(1 << 7, path, rounds);
    if (strcmp(argv[1], "varints_15") == 0) return run_varints(1 << 15, path, rounds);
    if (strcmp(argv[1], "varints_17") == 0) return run_varints(1 << 17, path, rounds);
    if (strcmp(argv[1], "varints_52") == 0) return run_varints((uint64_t)1 << 52, path, rounds);
    if (strcmp(argv[1], "permutation") == 0) return run_permutation(1000000, path, rounds);
    return 2;
}
