/* Writing tf.Examples: features appended one by one to a buffer that is large enough. */
#ifndef RECMAP_BENCH_C_EXAMPLE_H
#define RECMAP_BENCH_C_EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

enum { EXAMPLE_CAPACITY = 1 << 18 };

struct example {
    uint8_t bytes[EXAMPLE_CAPACITY]; /* the record, from `start` on after example_end */
    size_t start;
    size_t end;
};

void example_begin(struct example *example);
void example_add_bytes(struct example *example, const char *name, const void *data, size_t size);
void example_add_int64(struct example *example, const char *name, const uint64_t *values,
                       size_t count);
void example_add_float(struct example *example, const char *name, const float *values,
                       size_t count);
void example_end(struct example *example);

#endif
