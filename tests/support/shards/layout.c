#include "support/shards/layout.h"

#include <string.h>

#include "support/shards/oracle.h"

/* A length for a header that lies: within the file, just outside it, or absurd. */
static uint64_t lying_length(size_t size, struct rng *random) {
    static const uint64_t absurd[] = {
        UINT64_MAX, UINT64_MAX - 15, (uint64_t)1 << 63, INT64_MAX, UINT32_MAX, (uint64_t)1 << 31,
    };
    switch (rng_below(random, 3)) {
    case 0: return rng_below(random, size + 1);
    case 1: return size - 20 + rng_below(random, 40);
    default: return absurd[rng_below(random, sizeof absurd / sizeof *absurd)];
    }
}

static void add_payload(struct buffer *buffer, size_t size, int depth, struct rng *random);

static void add_stream(struct buffer *out, size_t size, int depth, struct rng *random) {
    size_t end = out->size + size;
    while (out->size < end) {
        struct buffer payload = BUFFER_INIT;
        size_t max = rng_one_in(random, 12) ? size : 60;
        add_payload(&payload, (size_t)rng_below(random, max), depth, random);
        oracle_add_record(out, payload.data, payload.size);
        buffer_deinit(&payload);
    }
}

/* Records whose length holds and whose data does not. */
static void add_false_stream(struct buffer *buffer, size_t size, struct rng *random) {
    size_t end = buffer->size + size;
    while (buffer->size < end) {
        size_t length = (size_t)rng_below(random, 40);
        oracle_add_header(buffer, rng_one_in(random, 3) ? lying_length(size, random) : length);
        if (!rng_one_in(random, 4)) buffer_add_random(buffer, length + 4, random);
    }
}

static void add_payload(struct buffer *buffer, size_t size, int depth, struct rng *random) {
    size_t start = buffer->size;
    switch (depth ? rng_below(random, 6) : 0) {
    case 0: buffer_add_random(buffer, size, random); break;
    case 1: add_stream(buffer, size, depth - 1, random); break;
    case 2: add_false_stream(buffer, size, random); break;
    case 3: /* a stream that begins or ends in the middle of a record */
        add_stream(buffer, size, depth - 1, random);
        if (rng_one_in(random, 2)) buffer->size -= (size_t)rng_below(random, buffer->size - start);
        else buffer_remove(buffer, start, (size_t)rng_below(random, buffer->size - start));
        break;
    case 4: break; /* empty */
    default:
        for (size_t i = 0; i < size; i++) buffer_add_byte(buffer, 0);
    }
}

void layout_add_records(struct buffer *buffer, size_t size, struct rng *random) {
    add_stream(buffer, size, 2, random);
}

void layout_damage(struct buffer *file, struct rng *random) {
    if (!file->size) return;
    size_t at = (size_t)rng_below(random, file->size);
    size_t max = rng_one_in(random, 4) ? file->size - at : 24;
    size_t size = (size_t)rng_below(random, max < file->size - at ? max : file->size - at);
    struct buffer junk = BUFFER_INIT;
    add_payload(&junk, (size_t)rng_below(random, 100), 2, random);
    switch (rng_below(random, 7)) {
    case 0: file->data[at] ^= (uint8_t)(1u << rng_below(random, 8)); break;
    case 1: memset(file->data + at, 0, size); break;
    case 2: buffer_remove(file, at, size); break;
    case 3: file->size = at; break;
    case 4: buffer_insert(file, at, junk.data, junk.size); break;
    case 5: buffer_add(file, junk.data, junk.size < 11 ? junk.size : 11); break;
    default:
        for (size_t i = 0; i < size; i++) file->data[at + i] = (uint8_t)rng_next(random);
    }
    buffer_deinit(&junk);
}

void layout_generate(struct buffer *file, size_t size, struct rng *random) {
    if (rng_one_in(random, 12)) {
        add_payload(file, size, 3, random);
        return;
    }
    layout_add_records(file, size, random);
    size_t damages = rng_one_in(random, 3) ? 0 : (size_t)rng_skewed(random, 4) + 1;
    for (size_t i = 0; i < damages; i++) layout_damage(file, random);
}
