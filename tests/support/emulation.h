/* Tests under an emulator such as qemu's user mode, which passes system calls on to the kernel but
 * lacks some of them. */
#ifndef RECMAP_TESTS_SUPPORT_EMULATION_H
#define RECMAP_TESTS_SUPPORT_EMULATION_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns true if an emulator runs the tests, which packaging/test-aarch64 tells. If so, prints
 * what the emulator lacks: the script lists these lines at its end. */
static inline bool is_emulated(const char *test, const char *missing) {
    if (!getenv("RECMAP_TEST_EMULATED")) return false;
    printf("skipped under emulation: %s: %s\n", test, missing);
    return true;
}

#endif
