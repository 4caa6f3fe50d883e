#include "base/permutation/rounds.h"

#ifdef ROUNDS_NEON
#include <arm_neon.h>

#define TARGET
typedef uint32_t vector __attribute__((vector_size(16), may_alias));

static inline vector broadcast(uint32_t x) {
    return (vector)vdupq_n_u32(x);
}

#include "base/permutation/rounds_wide.inc"

/* Each product fills two lanes; the second one of each is its high half. */
static inline vector multiply_high(vector a, vector b) {
    uint64x2_t low = vmull_u32(vget_low_u32((uint32x4_t)a), vget_low_u32((uint32x4_t)b));
    uint64x2_t high = vmull_high_u32((uint32x4_t)a, (uint32x4_t)b);
    return (vector)vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
}

static inline vector wrap(vector d, vector b) {
    return (vector)vminq_u32((uint32x4_t)d, (uint32x4_t)(d + b));
}

#include "base/permutation/rounds_body.inc"

const struct rounds_path rounds_neon = {forward, backward};
#endif
