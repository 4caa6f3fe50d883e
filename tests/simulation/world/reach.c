#include "simulation/world/reach.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#include "simulation/world/process.h"

enum { PROGRAM_MAX = 8 << 20 };

static uint8_t *has_run; /* of each byte of the program */
static uintptr_t addresses[COPIES_MAX];
static size_t address_count;

bool reach_start(void) {
    void *memory =
        mmap(NULL, PROGRAM_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    has_run = memory;
    return true;
}

void reach_add_copy(uintptr_t address) {
    if (has_run && address_count < COPIES_MAX) addresses[address_count++] = address;
}

/* The name is the compiler's. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    uintptr_t place = (uintptr_t)__builtin_return_address(0), address = 0;
    for (size_t i = 0; i < address_count; i++)
        if (addresses[i] <= place && addresses[i] > address) address = addresses[i];
    if (address && place - address < PROGRAM_MAX) has_run[place - address] = 1;
}

bool reach_write(const char *path) {
    FILE *file = fopen(path, "we");
    if (!file) return false;
    for (size_t i = 0; i < PROGRAM_MAX; i++)
        if (has_run[i]) fprintf(file, "%zx\n", i);
    return fclose(file) == 0;
}
