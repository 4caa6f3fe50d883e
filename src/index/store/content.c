#include "index/store/content.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/hash.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"

enum { PIECE_SIZE = 1 << 20 };

static void store_hash(uint8_t hash[16], XXH128_hash_t digest) {
    store64(hash, digest.low64);
    store64(hash + 8, digest.high64);
}

void content_hash(uint8_t hash[16], const void *data, size_t size) {
    store_hash(hash, XXH3_128bits(data, size));
}

static recmap_status add_file(XXH3_state_t *state, int fd, uint64_t size, const char *path,
                              recmap_error *error) {
    uint8_t *piece = malloc(PIECE_SIZE);
    recmap_status status = piece ? RECMAP_OK : fail_memory(error);
    for (uint64_t offset = 0; status == RECMAP_OK && offset < size; offset += PIECE_SIZE) {
        size_t part = (size_t)min_u64(size - offset, PIECE_SIZE);
        status = file_read_at(fd, piece, part, offset, path, error);
        if (status == RECMAP_OK) XXH3_128bits_update(state, piece, part);
        if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), part, error);
    }
    free(piece);
    return status;
}

recmap_status content_hash_file(uint8_t hash[16], int fd, uint64_t size, const char *path,
                                recmap_error *error) {
    XXH3_state_t *state = XXH3_createState();
    if (!state) return fail_memory(error);
    XXH3_128bits_reset(state);
    recmap_status status = add_file(state, fd, size, path, error);
    if (status == RECMAP_OK) store_hash(hash, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    return status;
}
