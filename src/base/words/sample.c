#include "base/words/sample.h"

uint64_t sample_clamp(uint64_t wanted, uint64_t count) {
    return !wanted || wanted > UINT32_MAX || wanted > count ? count : wanted;
}

/* floor(index * count / size), where the product may need more than 64 bits */
uint64_t sample_part_start(uint64_t index, uint64_t size, uint64_t count) {
    return index * (count / size) + index * (count % size) / size;
}

/* A hash. recmap/_dataset/sample.py has the same one, to read the same records. */
static uint64_t mix(uint64_t value) {
    value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return value ^ value >> 32;
}

uint64_t sample_position(uint64_t index, uint64_t size, uint64_t count) {
    if (!index) return 0;
    if (index == size - 1) return count - 1;
    uint64_t start = sample_part_start(index, size, count);
    return start + mix(index) % (sample_part_start(index + 1, size, count) - start);
}
