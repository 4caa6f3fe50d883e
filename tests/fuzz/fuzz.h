/* The entry point that a fuzz target defines; libFuzzer and replay.c call it. */
#ifndef RECMAP_TESTS_FUZZ_FUZZ_H
#define RECMAP_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Handles any bytes without a crash. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
