#include "parse/varints/varints.h"

#include <stdatomic.h>

#ifdef VARINTS_X86
/* On Zen 1 and 2, pext is a slow loop in microcode, and the portable implementation is faster. */
static bool has_fast_pext(void) {
    return !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}

static varints_function *choose(void) {
    if (has_avx512()) return varints_avx512;
    if (has_avx2() && has_fast_pext()) return varints_avx2;
    return varints_portable;
}

static bool is_supported(varints_function *path) {
    if (path == varints_avx512) return has_avx512();
    return path == varints_avx2 ? has_avx2() : path == varints_portable;
}
#elif defined(VARINTS_NEON)
static varints_function *choose(void) {
    return varints_neon;
}

static bool is_supported(varints_function *path) {
    return path == varints_neon || path == varints_portable;
}
#else
static varints_function *choose(void) {
    return varints_portable;
}

static bool is_supported(varints_function *path) {
    return path == varints_portable;
}
#endif

/* NULL until the first use. */
static varints_function *_Atomic chosen;

varints_function *varints_best(void) {
    varints_function *path = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (path) return path;
    path = choose();
    atomic_store_explicit(&chosen, path, memory_order_relaxed);
    return path;
}

bool varints_force(varints_function *path) {
    if (path && !is_supported(path)) return false;
    atomic_store_explicit(&chosen, path, memory_order_relaxed);
    return true;
}

size_t varints_cut(const uint8_t *data, size_t size, size_t max) {
    if (size <= max) return size;
    for (size_t cut = max; cut > max - VARINT_SIZE_MAX; cut--)
        if (data[cut - 1] < 0x80) return cut;
    return 0;
}
