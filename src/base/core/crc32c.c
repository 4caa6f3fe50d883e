#include "base/core/crc32c.h"

#include <limits.h>

#include <isa-l/crc.h>

#include "base/core/bytes.h"

#if defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

#if defined(RECMAP_PORTABLE)
#define CRC crc32_iscsi_base /* plain C, for any CPU */
#else
#define CRC crc32_iscsi /* selects code for the CPU */
#endif

/* ISA-L 2.30 returns from its AVX-512 code without clearing the upper halves of the vector
 * registers, which slows down every SSE instruction that follows. Clearing them reduced a get of
 * 2.6 KB from 200 to 79 ns on Sapphire Rapids. Short data never takes that code. */
enum { WIDE_CODE_MIN = 256 };

#if defined(__x86_64__) && !defined(RECMAP_PORTABLE)
__attribute__((target("avx"))) static void clear_vector_registers(void) {
    __builtin_ia32_vzeroupper();
}

/* Uses the CRC instruction on eight bytes at a time. For short data, such as the length of a
 * record, this is faster than the vector code. */
__attribute__((target("sse4.2,crc32"))) static uint32_t
update_short(uint32_t state, const uint8_t *data, size_t size) {
    uint64_t wide = state;
    for (; size >= 32; size -= 32, data += 32) {
        wide = __builtin_ia32_crc32di(wide, load64(data));
        wide = __builtin_ia32_crc32di(wide, load64(data + 8));
        wide = __builtin_ia32_crc32di(wide, load64(data + 16));
        wide = __builtin_ia32_crc32di(wide, load64(data + 24));
    }
    for (; size >= 8; size -= 8, data += 8) wide = __builtin_ia32_crc32di(wide, load64(data));
    state = (uint32_t)wide;
    if (size & 4) state = __builtin_ia32_crc32si(state, load32(data));
    data += size & 4;
    for (size &= 3; size; size--) state = __builtin_ia32_crc32qi(state, *data++);
    return state;
}

static bool has_instruction(void) {
    return __builtin_cpu_supports("sse4.2");
}

static void leave_wide_code(size_t size) {
    if (size >= WIDE_CODE_MIN && __builtin_cpu_supports("avx")) clear_vector_registers();
}
#elif defined(__aarch64__) && !defined(RECMAP_PORTABLE)
/* The same with the CRC instructions of ARMv8, which are optional in the first version only. */
__attribute__((target("+crc"))) static uint32_t update_short(uint32_t state, const uint8_t *data,
                                                             size_t size) {
    for (; size >= 8; size -= 8, data += 8) state = __crc32cd(state, load64(data));
    if (size & 4) state = __crc32cw(state, load32(data));
    data += size & 4;
    for (size &= 3; size; size--) state = __crc32cb(state, *data++);
    return state;
}

static bool has_instruction(void) {
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

static void leave_wide_code(size_t size) {
    (void)size;
}
#else
static uint32_t update_short(uint32_t state, const uint8_t *data, size_t size) {
    return CRC((unsigned char *)data, (int)size, state);
}

static bool has_instruction(void) {
    return false;
}

static void leave_wide_code(size_t size) {
    (void)size;
}
#endif

/* ISA-L takes the size as an int and leaves the inversions to the caller. */
static uint32_t update(uint32_t state, const uint8_t *data, size_t size) {
    const size_t max = (size_t)INT_MAX & ~(size_t)63;
    while (size > max) {
        state = CRC((unsigned char *)data, (int)max, state);
        data += max;
        size -= max;
    }
    return CRC((unsigned char *)data, (int)size, state);
}

uint32_t crc32c_extend(uint32_t crc, const void *data, size_t size) {
    if (size < WIDE_CODE_MIN && has_instruction()) return ~update_short(~crc, data, size);
    uint32_t state = update(~crc, data, size);
    leave_wide_code(size);
    return ~state;
}

uint32_t crc32c(const void *data, size_t size) {
    return crc32c_extend(0, data, size);
}

/* A CRC is a polynomial over GF(2) modulo this one, with x^0 in the highest bit. Each byte appended
 * to the data multiplies its polynomial by x^8. */
#define POLYNOMIAL 0x82f63b78u
#define ONE 0x80000000u

static uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = ONE; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = (b >> 1) ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

uint32_t crc32c_shift(uint32_t crc, uint64_t size) {
    uint32_t power = ONE >> 8; /* x^8, then x^16, x^32 and so on */
    for (; size; size >>= 1) {
        if (size & 1) crc = multiply(crc, power);
        power = multiply(power, power);
    }
    return crc;
}
