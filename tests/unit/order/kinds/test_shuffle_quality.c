/* The battery for the permutation: is a shuffle as good as a random one, at every internal width?
 *
 * Each statistic has a known distribution for random permutations. All seeds are fixed, so a test
 * always passes or always fails. RECMAP_TEST_LONG=1 runs all of it, otherwise a sample at each
 * width. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/permutation/permutation.h"
#include "base/permutation/random.h"
#include "check.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef unsigned long long ull; /* for printf */

enum { BINS = 256, WIDTH_MIN = 9, WIDTH_MAX = 62 };

/* How far a histogram is from even, in standard deviations of chi squared. */
static double chi_z(const uint32_t *bins, size_t count, double total) {
    double chi = 0, expected = total / (double)count, freedom = (double)count - 1;
    for (size_t i = 0; i < count; i++) {
        double off = bins[i] - expected;
        chi += off * off / expected;
    }
    return (chi - freedom) / sqrt(2 * freedom);
}

static size_t bin_of(uint64_t value, uint64_t n, size_t bins) {
    size_t bin = (size_t)((double)value / (double)n * (double)bins);
    return bin < bins ? bin : bins - 1;
}

/* p(start .. start + count), for one key; malloc'ed. */
static uint64_t *sequence(uint64_t n, uint64_t seed, uint64_t epoch, uint64_t start, size_t count) {
    uint64_t *numbers = make_array(count, sizeof *numbers);
    struct permutation permutation;
    permutation_init(&permutation, n, seed, epoch, 0);
    for (size_t i = 0; i < count; i++) numbers[i] = start + i;
    permutation_at(&permutation, numbers, numbers, count);
    return numbers;
}

/* ---- P2: differences at a lag spread evenly. */

static const size_t lags[] = {1, 2, 16, 64, 256, 512, 1024, 2048, 4096, 8192};

static void check_lags(uint64_t n, uint64_t seed, uint64_t start, size_t count) {
    if (start > n / 2) start = n / 2;
    if (count > n - start) count = n - start;
    uint64_t *p = sequence(n, seed, 0, start, count);
    for (size_t l = 0; l < COUNT(lags) && 2 * lags[l] < count; l++) {
        uint32_t bins[BINS] = {0};
        for (size_t i = 0; i + lags[l] < count; i++) {
            uint64_t to = p[i + lags[l]], from = p[i];
            bins[bin_of(to >= from ? to - from : to + n - from, n, BINS)]++;
        }
        double z = chi_z(bins, BINS, (double)(count - lags[l]));
        if (z > 5)
            fail_msg("n = %llu, seed %llu, lag %zu: z = %.1f", (ull)n, (ull)seed, lags[l], z);
    }
    free(p);
}

/* Neighbours as points in a plane: all squares of it alike. */
static void check_pairs(uint64_t n, uint64_t seed, size_t count) {
    if (count > n) count = n;
    uint64_t *p = sequence(n, seed, 0, 0, count);
    uint32_t bins[BINS] = {0};
    for (size_t i = 0; i + 1 < count; i += 2)
        bins[bin_of(p[i], n, 16) * 16 + bin_of(p[i + 1], n, 16)]++;
    double z = chi_z(bins, BINS, (double)(count / 2));
    if (z > 5) fail_msg("n = %llu, seed %llu: pairs: z = %.1f", (ull)n, (ull)seed, z);
    free(p);
}

static void test_lags_look_random(void **state) {
    (void)state;
    static const uint64_t sizes[] = {65536,     1000000,    30000000,    60000000,
                                     67108866,  100000000,  200000000,   268435456,
                                     300000000, 1000000000, 17179869184, 1000000000000};
    const size_t count = is_long() ? 1000000 : 200000;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint64_t seed = 0; seed < 2; seed++) {
            check_lags(sizes[i], seed, 0, count);
            if (is_long()) check_lags(sizes[i], seed, sizes[i] / 3, count);
            check_pairs(sizes[i], seed, count);
        }
}

/* A size of a width: just above a power of two, at the next one, between. */
static uint64_t size_of_width(unsigned bits, unsigned kind) {
    uint64_t max = (uint64_t)1 << bits;
    if (kind == 0) return max;
    return kind == 1 ? max / 2 + 1 : max / 2 + random_below(random_word(bits, 0), max / 2);
}

static void test_lags_at_every_width(void **state) {
    (void)state;
    const size_t count = is_long() ? 1000000 : 60000;
    for (unsigned bits = 13; bits <= WIDTH_MAX; bits++)
        for (unsigned which = 0; which < 3; which++)
            for (uint64_t seed = 10; seed < (is_long() ? 14u : 11u); seed++) {
                uint64_t n = size_of_width(bits, which);
                check_lags(n, seed, seed & 1 ? n / 5 : 0, count);
                check_pairs(n, seed, count);
            }
}

/* ---- Affine relations: p(a) + p(b) + p(c) + p(a+b+c) is 0 no more often than by chance, with XOR
 * and with sums modulo n, whole and folded by every rotation, as is each bit of it. */

struct relation {
    unsigned bits;
    size_t count;
    size_t zero[64];    /* by rotation; rotation 0: no fold */
    size_t bit_set[64]; /* by bit */
};

static uint64_t rotate(uint64_t x, unsigned bits, unsigned shift) {
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return shift ? (x << shift | x >> (bits - shift)) & mask : x;
}

static void relation_add(struct relation *r, uint64_t x) {
    r->count++;
    for (unsigned by = 0; by < r->bits; by++)
        r->zero[by] += (by ? x ^ rotate(x, r->bits, by) : x) == 0;
    for (unsigned bit = 0; bit < r->bits; bit++) r->bit_set[bit] += x >> bit & 1;
}

static unsigned common_divisor(unsigned a, unsigned b) {
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void relation_check(const struct relation *r, const char *title, uint64_t n) {
    for (unsigned by = 0; by < r->bits; by++) {
        unsigned free_bits = r->bits - (by ? common_divisor(r->bits, by) : 0);
        double expected = (double)r->count / exp2(free_bits);
        if ((double)r->zero[by] > expected + 6 * sqrt(expected) + 4)
            fail_msg("n = %llu: %s, rotation %u: %zu zeros, expected %.2f", (ull)n, title, by,
                     r->zero[by], expected);
    }
    for (unsigned bit = 0; bit < r->bits; bit++) {
        double z = fabs(2.0 * (double)r->bit_set[bit] - (double)r->count) / sqrt((double)r->count);
        if (z > 5.5) fail_msg("n = %llu: %s, bit %u: z = %.1f", (ull)n, title, bit, z);
    }
}

/* Looks for affine relations: of a random permutation, the xor (or sum) of the results for x, y, z
 * and x^y^z is uniform. A weak one gives 0, or a constant, too often, so the xor is checked as a
 * whole and in halves. */
static void check_affine(unsigned bits, uint64_t seed, size_t triples) {
    const uint64_t n = (uint64_t)1 << bits, mask = n - 1;
    const unsigned k = bits / 2;
    struct relation whole = {.bits = bits}, low = {.bits = k}, high = {.bits = bits - k};
    struct relation sum = {.bits = bits};
    struct permutation permutation;
    permutation_init(&permutation, n, seed, 0, 0);
    for (size_t i = 0; i < triples; i++) {
        uint64_t x[8];
        for (uint64_t j = 0; j < 3; j++) x[j] = x[j + 4] = random_word(seed, 3 * i + j) & mask;
        x[3] = x[0] ^ x[1] ^ x[2];
        x[7] = (x[0] - x[1] + x[2]) & mask;
        if (x[0] == x[1] || x[1] == x[2] || x[0] == x[2]) continue;
        permutation_at(&permutation, x, x, 8);
        uint64_t found = x[0] ^ x[1] ^ x[2] ^ x[3];
        relation_add(&whole, found);
        relation_add(&low, found & (((uint64_t)1 << k) - 1));
        relation_add(&high, found >> k);
        relation_add(&sum, (x[4] - x[5] + x[6] - x[7]) & mask);
    }
    relation_check(&whole, "xor", n);
    relation_check(&low, "xor of low halves", n);
    relation_check(&high, "xor of high halves", n);
    relation_check(&sum, "sum", n);
}

static void test_affine_at_every_width(void **state) {
    (void)state;
    for (unsigned bits = WIDTH_MIN; bits <= WIDTH_MAX; bits++)
        for (uint64_t seed = 0; seed < (is_long() ? 10u : 1u); seed++)
            check_affine(bits, seed, is_long() ? 10000 : 2000);
}

/* ---- Fixed points, cycles, parity, over many keys. */

static size_t count_cycles(const uint64_t *p, size_t n, bool *is_seen) {
    size_t cycles = 0;
    memset(is_seen, 0, n);
    for (size_t i = 0; i < n; i++) {
        cycles += !is_seen[i];
        for (size_t at = i; !is_seen[at]; at = p[at]) is_seen[at] = true;
    }
    return cycles;
}

/* Fixed points, cycles and parity of random permutations have known means and variances. Over many
 * keys, none may deviate by more than 5 standard deviations. */
static void check_cycles(uint64_t n, unsigned keys) {
    double fixed = 0, cycles = 0, even = 0, mean = 0, variance = 0;
    bool *seen = make_array(n, sizeof *seen);
    for (unsigned key = 0; key < keys; key++) {
        uint64_t *p = sequence(n, key, 1, 0, n);
        for (size_t i = 0; i < n; i++) fixed += p[i] == i;
        size_t found = count_cycles(p, n, seen);
        cycles += (double)found;
        even += (n - found) % 2 == 0;
        free(p);
    }
    for (uint64_t i = 1; i <= n; i++) {
        mean += 1.0 / (double)i;
        variance += (1.0 - 1.0 / (double)i) / (double)i;
    }
    free(seen);
    double z[] = {(fixed - keys) / sqrt(keys), (cycles - keys * mean) / sqrt(keys * variance),
                  (2 * even - keys) / sqrt(keys)};
    for (int i = 0; i < 3; i++)
        if (fabs(z[i]) > 5)
            fail_msg("n = %llu: fixed points, cycles, parity: z = %.1f %.1f %.1f", (ull)n, z[0],
                     z[1], z[2]);
}

static void test_cycles_look_random(void **state) {
    (void)state;
    static const uint64_t sizes[] = {5, 16, 100, 255, 256, 257, 300, 511, 512, 513, 1000, 4097};
    for (size_t i = 0; i < COUNT(sizes); i++) check_cycles(sizes[i], is_long() ? 4000 : 400);
    for (unsigned bits = 13; bits <= (is_long() ? 18u : 15u); bits++)
        check_cycles(size_of_width(bits, 2), is_long() ? 200 : 10);
}

/* ---- P5: tiny n: all n! orders alike. */

static size_t rank_of(const uint64_t *p, size_t n) {
    size_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        size_t smaller = 0;
        for (size_t j = i + 1; j < n; j++) smaller += p[j] < p[i];
        rank = rank * (n - i) + smaller;
    }
    return rank;
}

/* For 2 to 6 records, counts how often each of the n! orders occurs, over seeds and over epochs.
 * All must be equally frequent. */
static void test_tiny_permutations_are_equally_frequent(void **state) {
    (void)state;
    enum { ORDERS_MAX = 720 };
    size_t orders = 1;
    const uint64_t seeds = is_long() ? 200000 : 20000;
    for (uint64_t n = 2; n <= 6; n++) {
        uint32_t by_seed[ORDERS_MAX] = {0}, by_epoch[ORDERS_MAX] = {0};
        orders *= n;
        for (uint64_t i = 0; i < seeds; i++) {
            uint64_t *p = sequence(n, i, 0, 0, n);
            by_seed[rank_of(p, n)]++;
            free(p);
            p = sequence(n, 5, i, 0, n);
            by_epoch[rank_of(p, n)]++;
            free(p);
        }
        assert_true(fabs(chi_z(by_seed, orders, (double)seeds)) < 5);
        assert_true(fabs(chi_z(by_epoch, orders, (double)seeds)) < 5);
    }
}

/* Where each of n records goes, over many keys: every place alike. */
static void test_every_place_is_equally_frequent(void **state) {
    (void)state;
    static const uint64_t sizes[] = {7, 16, 100, 256, 257, 300};
    const uint64_t seeds = is_long() ? 200000 : 20000;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t n = sizes[i];
        uint32_t first[512] = {0}, distance[512] = {0};
        for (uint64_t seed = 0; seed < seeds; seed++) {
            struct permutation permutation;
            permutation_init(&permutation, n, seed, 9, 0);
            uint64_t a = permutation_at_one(&permutation, 0),
                     b = permutation_at_one(&permutation, 1);
            first[a]++;
            distance[(b + n - a) % n]++;
        }
        if (chi_z(first, n, (double)seeds) > 5 || distance[0] ||
            chi_z(distance + 1, n - 1, (double)seeds) > 5)
            fail_msg("n = %llu", (ull)n);
    }
}

/* The distance between two records that were adjacent, or one low half of the network apart, over
 * many keys: every distance is equally likely. As rounds are added, this is the last test to pass,
 * and it is hardest at the smallest sizes. */
static void check_chosen_pairs(uint64_t n, uint64_t apart, uint64_t keys) {
    enum { LIMIT = 1024 };
    uint32_t bins[LIMIT] = {0};
    uint64_t all[LIMIT];
    for (uint64_t key = 0; key < keys; key++) {
        struct permutation permutation;
        permutation_init(&permutation, n, key, 4, 0);
        for (uint64_t i = 0; i < n; i++) all[i] = i;
        permutation_at(&permutation, all, all, n);
        for (uint64_t i = 0; i < n; i++) bins[(all[(i + apart) % n] + n - all[i]) % n]++;
    }
    double z = chi_z(bins + 1, n - 1, (double)(keys * n));
    if (bins[0] || z > 5) fail_msg("n = %llu: pairs %llu apart: z = %.1f", (ull)n, (ull)apart, z);
}

static void test_chosen_pairs_are_independent(void **state) {
    (void)state;
    static const uint64_t sizes[] = {12, 20, 50, 100, 257, 300, 400, 512, 513, 600};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint64_t keys = (is_long() ? 150000000u : 3000000u) / sizes[i];
        check_chosen_pairs(sizes[i], 1, keys);
        check_chosen_pairs(sizes[i], (uint64_t)1 << bit_length(sizes[i] - 1) / 2, keys);
    }
}

/* ---- P6: seeds, epochs, streams and sizes beside each other have nothing in common. */

static void check_unrelated(const struct permutation *permutation, const struct permutation *q,
                            uint64_t n) {
    enum { SAMPLE = 1 << 16 };
    static uint64_t a[SAMPLE], b[SAMPLE];
    for (uint64_t i = 0; i < SAMPLE; i++) a[i] = b[i] = i;
    permutation_at(permutation, a, a, SAMPLE);
    permutation_at(q, b, b, SAMPLE);
    uint32_t bins[BINS] = {0}, same = 0;
    for (size_t i = 0; i < SAMPLE; i++) {
        bins[bin_of(b[i] >= a[i] ? b[i] - a[i] : b[i] + n - a[i], n, BINS)]++;
        same += a[i] == b[i];
    }
    assert_true(chi_z(bins, BINS, SAMPLE) < 5);
    assert_true(same < 12);
}

static void test_neighbouring_keys_are_independent(void **state) {
    (void)state;
    static const uint64_t keys[][4] = {
        /* seed, epoch, stream, more records */
        {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0},          {0, 0, 0, 1},
        {1, 1, 0, 0}, {0, 1, 1, 0}, {1, UINT64_MAX, 0, 0}, {(uint64_t)1 << 63, 0, 0, 0}};
    static const uint64_t sizes[] = {65536, 1000000, (uint64_t)1 << 33, 1000000000000};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (size_t k = 0; k < COUNT(keys); k++) {
                struct permutation permutation, q;
                permutation_init(&permutation, sizes[i], seed, 1, 0);
                permutation_init(&q, sizes[i] + keys[k][3], seed + keys[k][0], 1 + keys[k][1],
                                 keys[k][2]);
                check_unrelated(&permutation, &q, sizes[i] + keys[k][3]);
            }
}

/* ---- P3, P4: records sorted by class, as a user would notice. */

static void test_neighbours_are_rarely_close(void **state) {
    (void)state;
    const uint64_t n = (uint64_t)1 << 24;
    const size_t count = is_long() ? n : n / 8;
    uint64_t *p = sequence(n, 3, 0, 0, count);
    size_t close = 0;
    for (size_t i = 0; i + 1 < count; i++) close += p[i] + 16 >= p[i + 1] && p[i + 1] + 16 >= p[i];
    double expected = 32.0 * (double)count / (double)n;
    if ((double)close > expected + 6 * sqrt(expected)) fail_msg("%zu close neighbours", close);
    free(p);
}

/* Divides the records into classes by number and counts them in each batch. The chi squared of
 * batches must have not only the right mean but also the right deviation: batches that are too even
 * are as suspicious as uneven ones. */
static void check_classes(uint64_t n, size_t classes, size_t batch, size_t batches) {
    double sum = 0, squares = 0, freedom = (double)classes - 1;
    uint32_t *bins = make_array(classes, sizeof *bins);
    for (size_t b = 0; b < batches; b++) {
        uint64_t *p = sequence(n, 8, 0, b * batch, batch);
        memset(bins, 0, classes * sizeof *bins);
        for (size_t i = 0; i < batch; i++) bins[bin_of(p[i], n, classes)]++;
        double chi = freedom + chi_z(bins, classes, (double)batch) * sqrt(2 * freedom);
        sum += chi;
        squares += chi * chi;
        free(p);
    }
    free(bins);
    double mean = sum / (double)batches;
    double deviation = sqrt(squares / (double)batches - mean * mean);
    double wanted = sqrt(2 * freedom), room = 4.2 / sqrt((double)batches);
    if (fabs(mean - freedom) > room * wanted || fabs(deviation / wanted - 1) > room)
        fail_msg("n = %llu: chi squared of classes: mean %.1f, deviation %.1f", (ull)n, mean,
                 deviation);
}

static void test_classes_in_batches(void **state) {
    (void)state;
    check_classes((uint64_t)1 << 24, 100, 4096, is_long() ? 1500 : 300);
    check_classes(10000000, 100, 4096, is_long() ? 1500 : 300);
    check_classes((uint64_t)1 << 24, 1000, 256, is_long() ? 20000 : 1000);
    for (unsigned bits = 20; bits <= WIDTH_MAX; bits += is_long() ? 1 : 7)
        check_classes(size_of_width(bits, 2), 100, 4096, is_long() ? 200 : 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lags_look_random),
        cmocka_unit_test(test_lags_at_every_width),
        cmocka_unit_test(test_affine_at_every_width),
        cmocka_unit_test(test_cycles_look_random),
        cmocka_unit_test(test_tiny_permutations_are_equally_frequent),
        cmocka_unit_test(test_every_place_is_equally_frequent),
        cmocka_unit_test(test_chosen_pairs_are_independent),
        cmocka_unit_test(test_neighbouring_keys_are_independent),
        cmocka_unit_test(test_neighbours_are_rarely_close),
        cmocka_unit_test(test_classes_in_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
