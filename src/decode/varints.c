#include "decode/varints.h"

#include <stdatomic.h>

#ifdef VARINTS_X86
/* pext is a loop of microcode on Zen 1 and 2; without it the portable way is the faster one. */
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

static bool can_go(varints_function *way) {
    if (way == varints_avx512) return has_avx512();
    return way == varints_avx2 ? has_avx2() : way == varints_portable;
}
#else
static varints_function *choose(void) {
    return varints_portable;
}

static bool can_go(varints_function *way) {
    return way == varints_portable;
}
#endif

/* NULL until somebody asks. */
static varints_function *_Atomic chosen;

varints_function *varints_best(void) {
    varints_function *way = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (way) return way;
    way = choose();
    atomic_store_explicit(&chosen, way, memory_order_relaxed);
    return way;
}

bool varints_force(varints_function *way) {
    if (way && !can_go(way)) return false;
    atomic_store_explicit(&chosen, way, memory_order_relaxed);
    return true;
}
