#include "parse/image/draw.h"

#include <string.h>

#include <xxhash.h>

#include "base/permutation/random.h"

uint64_t draw_stream(const char *name) {
    if (!name || !*name) return 0;
    return XXH3_64bits(name, strlen(name)) & ((UINT64_C(1) << 56) - 1);
}

static uint64_t state_of(const recmap_image_draw *draw, uint64_t stream) {
    uint64_t state = random_state(draw->seed, draw->epoch, stream, draw->number);
    if (draw->position == RECMAP_NO_RECORD) return state;
    return random_state(state, draw->position, stream_of(STREAM_DRAWS_AT_POSITION, 0), 0);
}

uint64_t draw_state(const recmap_image_draw *draw, uint64_t stream) {
    return state_of(draw, stream_of(STREAM_DRAWS, stream));
}

uint64_t draw_seed(const recmap_image_draw *draw, const char *name) {
    return random_word(state_of(draw, stream_of(STREAM_ROW_SEEDS, draw_stream(name))), 0);
}
