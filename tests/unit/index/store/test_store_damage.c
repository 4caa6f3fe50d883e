/* Damaged and forged stores: whatever the bytes, the outcome is right values or a stated error.
 * Many cases run in one child process, each under an alarm, so that a signal or a hang names its
 * case. RECMAP_TEST_LONG=1 runs the whole campaign, RECMAP_TEST_SEED=N repeats one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "index/store/seal.h"
#include "support/index/store_file.h"

enum { CASES_PER_CHILD = 100, CASE_SECONDS = 120 };

static char folder[64];
static char path[96];
static struct store_file sample;
static uint64_t seed;

/* What a child tells its parent. */
struct report {
    size_t current;  /* the case that runs */
    size_t refused;  /* cases that ended in an error on opening */
    size_t noticed;  /* ... on checking a value */
    size_t unharmed; /* cases that gave all values */
    char failure[512];
};
static struct report *shared;

static bool is_long(void) {
    const char *text = getenv("RECMAP_TEST_LONG");
    return text && *text && *text != '0';
}

static int enter(void **state) {
    (void)state;
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, sizeof folder, "%s/recmap-damage-XXXXXX", base);
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/sample.rmx", folder);
    sample_write(path);
    sample = file_load(path);
    const char *text = getenv("RECMAP_TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : 0;
}

static int leave(void **state) {
    (void)state;
    munmap(shared, sizeof *shared);
    file_deinit(&sample);
    unlink(path);
    return rmdir(folder);
}

static void complain(const char *reason, const recmap_error *error) {
    if (!shared->failure[0])
        snprintf(shared->failure, sizeof shared->failure, "%s (%.400s)", reason, error->message);
}

static bool is_stated(recmap_status status, const recmap_error *error) {
    bool is_known = status == RECMAP_CORRUPT || status == RECMAP_UNSUPPORTED || status == RECMAP_IO;
    return is_known && error->status == status && error->message[0] && error->path[0];
}

/* Returns true if the sample has this value at this key. */
static bool is_true(enum store_table table, const struct store_value *value) {
    static uint8_t expected[SAMPLE_VALUE_MAX];
    for (size_t i = 0; i < sample_count(table); i++) {
        struct store_key key = sample_key(table, i);
        if (key.chunk != value->key.chunk || key.series != value->key.series) continue;
        size_t size = sample_value(expected, table, i);
        return size == value->size && !memcmp(expected, value->data, size);
    }
    return false;
}

/* What came of opening a file and checking all of it. */
struct outcome {
    recmap_status opened;
    char message[256];
    size_t value_count;
    size_t bad_count;      /* values that do not match their hash */
    size_t wrong_count;    /* values that do, but are not the sample's */
    uint64_t sum;          /* over keys and bytes of the good ones */
    recmap_status content; /* of the hash of the whole file */
};

static void look_at_value(struct outcome *outcome, struct store *opened, enum store_table table,
                          size_t i) {
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count;
    const struct store_value *value = &store_values(opened, table, &count)[i];
    recmap_status status = store_check(opened, table, i, &error);
    outcome->value_count++;
    if (status != RECMAP_OK) {
        if (!is_stated(status, &error)) complain("a value's error is not stated", &error);
        outcome->bad_count++;
        return;
    }
    outcome->sum += value->key.chunk * 3 + value->key.series + value->size;
    for (size_t at = 0; at < value->size; at++) outcome->sum = outcome->sum * 31 + value->data[at];
    if (!is_true(table, value)) outcome->wrong_count++;
}

/* Opens the file and reads everything in it. A store must either be refused with a complete error,
 * or give values each of which is right or refused. */
static struct outcome look(bool in_memory) {
    struct outcome seen = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    struct store_options options = {.in_memory = in_memory};
    seen.opened = store_open(&opened, path, &options, &error);
    snprintf(seen.message, sizeof seen.message, "%.255s", error.message);
    if (seen.opened != RECMAP_OK) {
        if (opened || !is_stated(seen.opened, &error)) complain("no stated error", &error);
        return seen;
    }
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        store_values(opened, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++) look_at_value(&seen, opened, (enum store_table)table, i);
    }
    seen.content = store_check_all(opened, &error);
    store_close(opened);
    return seen;
}

static bool is_same(const struct outcome *a, const struct outcome *b) {
    return a->opened == b->opened && !strcmp(a->message, b->message) &&
           a->value_count == b->value_count && a->bad_count == b->bad_count && a->sum == b->sum &&
           a->content == b->content;
}

/* Saves the mutant and looks at it in both modes. */
static struct outcome look_twice(const struct store_file *mutant) {
    file_save(path, mutant->bytes, mutant->size);
    struct outcome mapped = look(false), in_memory = look(true);
    recmap_error none = RECMAP_ERROR_INIT;
    if (!is_same(&mapped, &in_memory)) complain("the two modes differ", &none);
    if (mapped.opened != RECMAP_OK) shared->refused++;
    else if (mapped.bad_count) shared->noticed++;
    else shared->unharmed++;
    return mapped;
}

static size_t sample_total(void) {
    size_t total = 0;
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        total += sample_count((enum store_table)table);
    return total;
}

/* Accidents never give wrong values, and the hash of the file sees every one. */
static void judge_accident(const struct store_file *mutant) {
    recmap_error none = RECMAP_ERROR_INIT;
    struct outcome seen = look_twice(mutant);
    bool is_changed = mutant->size != sample.size ||
                      memcmp(mutant->bytes, sample.bytes, sample.size);
    if (seen.opened != RECMAP_OK) return;
    if (seen.wrong_count) complain("a wrong value was accepted", &none);
    if (!seen.bad_count && seen.value_count != sample_total())
        complain("values are missing", &none);
    if (is_changed && seen.content == RECMAP_OK) complain("the file's hash saw nothing", &none);
}

typedef void (*case_fn)(size_t number, uint64_t *random);

static void run_child(size_t first, size_t count, case_fn run) {
    /* cmocka catches some signals. */
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = first; i < first + count && !shared->failure[0]; i++) {
        uint64_t random = seed * 1000003 + i;
        shared->current = i;
        alarm(CASE_SECONDS);
        run(i, &random);
    }
    _exit(shared->failure[0] ? 1 : 0);
}

static void run_cases(const char *name, size_t count, case_fn run) {
    memset(shared, 0, sizeof *shared);
    for (size_t first = 0; first < count; first += CASES_PER_CHILD) {
        size_t part = count - first < CASES_PER_CHILD ? count - first : CASES_PER_CHILD;
        int result;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) run_child(first, part, run);
        assert_int_equal(waitpid(child, &result, 0), child);
        if (WIFSIGNALED(result))
            fail_msg("%s: case %zu of seed %llu ended by signal %d", name, shared->current,
                     (unsigned long long)seed, WTERMSIG(result));
        if (WEXITSTATUS(result))
            fail_msg("%s: case %zu of seed %llu: %s", name, shared->current,
                     (unsigned long long)seed, shared->failure);
    }
    printf("%s: %zu cases, %zu refused, %zu noticed, %zu without harm\n", name, count,
           shared->refused, shared->noticed, shared->unharmed);
}

static void flip_bit(struct store_file *file, uint64_t *random) {
    file->bytes[random_below(random, file->size)] ^= (uint8_t)(1 << random_below(random, 8));
}

static void change_byte(struct store_file *file, uint64_t *random) {
    file->bytes[random_below(random, file->size)] = (uint8_t)random_next(random);
}

static void change_16_bytes(struct store_file *file, uint64_t *random) {
    size_t at = random_below(random, file->size - 16);
    for (size_t i = 0; i < 16; i++) file->bytes[at + i] = (uint8_t)random_next(random);
}

static size_t random_page(uint64_t *random) {
    return random_below(random, page_count_of(&sample)) * (size_t)page_size_of(&sample);
}

static void change_page_head(struct store_file *file, uint64_t *random) {
    file->bytes[random_page(random) + random_below(random, 32)] = (uint8_t)random_next(random);
}

static void change_meta(struct store_file *file, uint64_t *random) {
    size_t page = random_below(random, 2) * page_size_of(&sample);
    file->bytes[page + random_below(random, META_END)] = (uint8_t)random_next(random);
}

static void zero_page(struct store_file *file, uint64_t *random) {
    memset(file->bytes + random_page(random), 0, page_size_of(&sample));
}

static void fill_page(struct store_file *file, uint64_t *random) {
    size_t page = random_page(random);
    for (size_t i = 0; i < page_size_of(&sample); i++)
        file->bytes[page + i] = (uint8_t)random_next(random);
}

static void swap_pages(struct store_file *file, uint64_t *random) {
    uint8_t *a = file->bytes + random_page(random);
    uint8_t *b = file->bytes + random_page(random);
    for (size_t i = 0; i < page_size_of(&sample); i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void cut_anywhere(struct store_file *file, uint64_t *random) {
    file->size = random_below(random, file->size);
}

static void cut_at_page(struct store_file *file, uint64_t *random) {
    file->size = random_page(random);
}

static void make_garbage(struct store_file *file, uint64_t *random) {
    file->size = random_below(random, 65536);
    for (size_t i = 0; i < file->size; i++) file->bytes[i] = (uint8_t)random_next(random);
}

typedef void (*mutate_fn)(struct store_file *file, uint64_t *random);

static mutate_fn accident;

static void run_accident(size_t number, uint64_t *random) {
    (void)number;
    struct store_file mutant = file_copy(&sample);
    accident(&mutant, random);
    judge_accident(&mutant);
    file_deinit(&mutant);
}

static void accidents(void **state) {
    accident = *(mutate_fn *)*state;
    run_cases("accident", is_long() ? 1000 : 200, run_accident);
}

/* A forger knows the format: fields of LMDB's structures get numbers that could hurt, pages are
 * shared and linked in circles, and all hashes are right. */
static uint64_t hurtful_number(const struct store_file *file, uint64_t number, uint64_t *random) {
    uint64_t count = page_count_of(&sample);
    const uint64_t numbers[] = {0,
                                1,
                                2,
                                count - 1,
                                count,
                                count + 1,
                                page_size_of(&sample),
                                16,
                                0x7fff,
                                0x8000,
                                0xffff,
                                0x7fffffff,
                                0xffffffff,
                                (uint64_t)1 << 48,
                                (uint64_t)1 << 63,
                                UINT64_MAX,
                                UINT64_MAX - 16,
                                number + 1,
                                number - 1,
                                number * 2,
                                number ^ 1,
                                (uint64_t)1 << 52,
                                file->size,
                                random_below(random, count),
                                random_next(random)};
    return numbers[random_below(random, sizeof numbers / sizeof *numbers)];
}

static void forge_field(struct store_file *file, uint8_t *position, int width, uint64_t *random) {
    if (position + width > file->bytes + file->size) return;
    uint64_t old = width == 2 ? get16(position) : width == 4 ? get32(position) : get64(position);
    uint64_t value = hurtful_number(file, old, random);
    if (width == 2) put16(position, (uint16_t)value);
    else if (width == 4) put32(position, (uint32_t)value);
    else put64(position, value);
}

/* The address in the mutant of a part of the sample. */
static uint8_t *same_place(struct store_file *file, const uint8_t *in_sample) {
    return file->bytes + (in_sample - sample.bytes);
}

/* A page that some tree of the sample consists of. */
static uint8_t *tree_page(struct store_file *file, uint64_t *random) {
    uint8_t *branch = root_of(&sample, STORE_IDS);
    size_t child_count = (get16(branch + PAGE_LOWER) - (size_t)PAGE_NODES) / 2;
    switch (random_below(random, 8)) {
    case 0: return same_place(file, names_page(&sample));
    case 1: return same_place(file, root_of(&sample, STORE_MANIFEST));
    case 2: return same_place(file, root_of(&sample, STORE_SHARDS));
    case 3: return same_place(file, root_of(&sample, STORE_COLUMNS));
    case 4: return same_place(file, root_of(&sample, STORE_OFFSETS));
    case 5: return same_place(file, branch);
    default: return same_place(file, child_of(&sample, branch, random_below(random, child_count)));
    }
}

/* Changes one field of one of the two meta pages, which LMDB itself would trust. */
static void forge_meta(struct store_file *file, uint64_t *random) {
    static const struct {
        int at, width;
    } fields[] = {{META_MAGIC, 4},
                  {META_VERSION, 4},
                  {24, 8},
                  {32, 8},
                  {META_PAGE_SIZE, 4},
                  {META_LAST_PAGE, 8},
                  {44, 2},
                  {80, 8},
                  {META_MAIN + 4, 2},
                  {META_MAIN + 6, 2},
                  {META_MAIN + 8, 8},
                  {META_MAIN + 32, 8},
                  {META_MAIN + 40, 8},
                  {META_TRANSACTION, 8},
                  {0, 8},
                  {PAGE_KIND, 2}};
    size_t field = random_below(random, sizeof fields / sizeof *fields);
    uint8_t *meta = file->bytes + random_below(random, 2) * page_size_of(&sample);
    forge_field(file, meta + fields[field].at, fields[field].width, random);
}

static void forge_record(struct store_file *file, uint64_t *random) {
    static const struct {
        int at, width;
    } fields[] = {{0, 4}, {4, 2}, {6, 2}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 8}};
    enum store_table table = (enum store_table)random_below(random, STORE_TABLE_COUNT);
    size_t field = random_below(random, sizeof fields / sizeof *fields);
    uint8_t *record = same_place(file, record_of(&sample, table));
    forge_field(file, record + fields[field].at, fields[field].width, random);
}

static void forge_header(struct store_file *file, uint64_t *random) {
    static const int at[] = {0, 8, PAGE_KIND, PAGE_LOWER, PAGE_UPPER, PAGE_NODES, PAGE_NODES + 2};
    size_t field = random_below(random, sizeof at / sizeof *at);
    forge_field(file, tree_page(file, random) + at[field], field ? 2 : 8, random);
}

static void forge_node(struct store_file *file, uint64_t *random) {
    static const struct {
        int at, width;
    } fields[] = {{NODE_SIZE, 4}, {NODE_SIZE, 2}, {NODE_FLAGS, 2},     {NODE_KEY_SIZE, 2},
                  {NODE_KEY, 8},  {16, 4},        {NODE_LARGE_PAGE, 8}};
    uint8_t *page = tree_page(file, random);
    size_t count = (get16(page + PAGE_LOWER) - (size_t)PAGE_NODES) / 2;
    size_t node = random_below(random, count < 200 ? count : 200);
    size_t field = random_below(random, sizeof fields / sizeof *fields);
    size_t at = get16(page + PAGE_NODES + 2 * node);
    if (at + 32 > page_size_of(&sample)) return;
    forge_field(file, page + at + fields[field].at, fields[field].width, random);
}

/* One page becomes a copy of another, under its own number: sharing, circles, other depths. */
static void forge_copy(struct store_file *file, uint64_t *random) {
    uint8_t *target = tree_page(file, random), *source = tree_page(file, random);
    uint64_t number = (uint64_t)(target - file->bytes) / page_size_of(&sample);
    memmove(target, source, page_size_of(&sample));
    put64(target, number);
}

static void forge_seal(struct store_file *file, uint64_t *random) {
    static const struct {
        int at, width;
    } fields[] = {{SEAL_VERSION_AT, 4},    {SEAL_LMDB_VERSION_AT, 4}, {SEAL_PAGE_SIZE_AT, 4},
                  {SEAL_BYTE_ORDER_AT, 2}, {SEAL_PAGE_COUNT_AT, 8},   {SEAL_FILE_SIZE_AT, 8}};
    size_t field = random_below(random, sizeof fields / sizeof *fields);
    forge_field(file, seal_of(file) + fields[field].at, fields[field].width, random);
}

/* Pages are cut or added, with the seal and the metas saying so. */
static void forge_size(struct store_file *file, uint64_t *random) {
    uint8_t seal[SEAL_SIZE];
    uint64_t page_size = page_size_of(&sample), count = page_count_of(&sample);
    memcpy(seal, seal_of(file), SEAL_SIZE);
    count = 2 + random_below(random, count - 2);
    file->size = count * page_size + SEAL_SIZE;
    memcpy(seal_of(file), seal, SEAL_SIZE);
    put64(seal_of(file) + SEAL_PAGE_COUNT_AT, count);
    put64(seal_of(file) + SEAL_FILE_SIZE_AT, file->size);
    put64(page_of(file, 0) + META_LAST_PAGE, count - 1);
    put64(page_of(file, 1) + META_LAST_PAGE, count - 1);
}

static void run_forgery(size_t number, uint64_t *random) {
    static const mutate_fn forgeries[] = {forge_meta,   forge_record, forge_header,
                                          forge_header, forge_node,   forge_node,
                                          forge_node,   forge_copy,   forge_seal};
    (void)number;
    struct store_file mutant = file_copy(&sample);
    size_t count = 1 + random_below(random, 3);
    for (size_t i = 0; i < count; i++)
        forgeries[random_below(random, sizeof forgeries / sizeof *forgeries)](&mutant, random);
    if (random_below(random, 20) == 0) {
        memcpy(mutant.bytes, sample.bytes, sample.size);
        forge_size(&mutant, random);
    }
    file_reseal(&mutant);
    look_twice(&mutant);
    file_deinit(&mutant);
}

static void forged(void **state) {
    (void)state;
    run_cases("forgery", is_long() ? 20000 : 4000, run_forgery);
}

int main(void) {
    static const struct {
        const char *name;
        mutate_fn mutate;
    } kinds[] = {
        {"one_bit", flip_bit},
        {"one_byte", change_byte},
        {"sixteen_bytes", change_16_bytes},
        {"one_byte_in_the_first_32_of_a_page", change_page_head},
        {"one_byte_of_a_meta_page", change_meta},
        {"page_of_zeros", zero_page},
        {"page_of_random_bytes", fill_page},
        {"two_pages_swapped", swap_pages},
        {"cut_anywhere", cut_anywhere},
        {"cut_at_a_page", cut_at_page},
        {"garbage", make_garbage},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct CMUnitTest tests[KINDS + 1];
    for (size_t i = 0; i < KINDS; i++)
        tests[i] =
            (struct CMUnitTest){kinds[i].name, accidents, NULL, NULL, (void *)&kinds[i].mutate};
    tests[KINDS] = (struct CMUnitTest)cmocka_unit_test(forged);
    return cmocka_run_group_tests(tests, enter, leave);
}
