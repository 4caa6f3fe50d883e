/* The invariants of the sealed file as a whole: its seal, where it ends, its meta pages. Each is
 * broken alone, with every hash made right again, and must be refused with its own message. */
#include <stdlib.h>
#include <string.h>

#include "index/store/seal.h"
#include "support/index/store_breaks.h"

static void exchange_transactions(struct store_file *file) {
    uint8_t *newer = newer_meta(file), *older = older_meta(file);
    uint64_t number = get64(newer + META_TRANSACTION);
    put64(newer + META_TRANSACTION, get64(older + META_TRANSACTION));
    put64(older + META_TRANSACTION, number);
}

static void other_byte_order(struct store_file *file) {
    seal_of(file)[SEAL_BYTE_ORDER_AT] ^= 3;
}

static void resize(struct store_file *file, size_t size) {
    file->bytes = realloc(file->bytes, size + 1);
    assert_non_null(file->bytes);
    if (size > file->size) memset(file->bytes + file->size, 0, size - file->size);
    file->size = size;
}

static void drop_seal(struct store_file *file) {
    resize(file, file->size - SEAL_SIZE);
}

static void empty_file(struct store_file *file) {
    resize(file, 0);
}

static void one_byte(struct store_file *file) {
    resize(file, 1);
}

static void other_file(struct store_file *file) {
    memset(file->bytes, 'x', file->size);
}

static void pointer_file(struct store_file *file) {
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    resize(file, sizeof pointer - 1);
    memcpy(file->bytes, pointer, sizeof pointer - 1);
}

static void cut_page(struct store_file *file) {
    resize(file, 8192);
}

static void cut_byte(struct store_file *file) {
    resize(file, file->size - 1);
}

static void add_byte(struct store_file *file) {
    resize(file, file->size + 1);
}

/* As LMDB 1.0 starts a file: a page header of 24 bytes. */
static void lmdb_1_0(struct store_file *file) {
    memmove(file->bytes + 24, file->bytes + 16, 512);
    memset(file->bytes + 16, 0, 8);
    put32(file->bytes + 28, 2);
    drop_seal(file);
}

static void lmdb_swapped(struct store_file *file) {
    put32(file->bytes + META_MAGIC, __builtin_bswap32(get32(file->bytes + META_MAGIC)));
    put32(file->bytes + META_VERSION, __builtin_bswap32(get32(file->bytes + META_VERSION)));
    drop_seal(file);
}

static void cut_middle(struct store_file *file) {
    memmove(seal_of(file) - 4096, seal_of(file), SEAL_SIZE);
    resize(file, file->size - 4096);
}

static void add_middle(struct store_file *file) {
    resize(file, file->size + 4096);
    memmove(seal_of(file), seal_of(file) - 4096, SEAL_SIZE);
}

static void flip_seal(struct store_file *file) {
    seal_of(file)[40] ^= 1;
}

/* Times the page size it is the same, modulo 2^64. */
static uint64_t wrapping_count(const struct store_file *file) {
    return page_count_of(file) + ((uint64_t)1 << 52);
}

static const struct break_case cases[] = {
    {.name = "seal_is_absent",
     .change_at_last = drop_seal,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_empty",
     .change_at_last = empty_file,
     .message = "the file is empty, not an index"},
    {.name = "file_is_one_byte",
     .change_at_last = one_byte,
     .message = "the file is not a recmap index"},
    {.name = "file_is_another",
     .change_at_last = other_file,
     .message = "the file is not a recmap index"},
    {.name = "file_is_a_pointer",
     .change_at_last = pointer_file,
     .message = "the file is not a recmap index"},
    {.name = "file_is_cut_at_a_page",
     .change_at_last = cut_page,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_cut_by_a_byte",
     .change_at_last = cut_byte,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_has_a_byte_more",
     .change_at_last = add_byte,
     .message =
         "there is no seal at the end: the index was cut short or something was added to it"},
    {.name = "file_is_lmdb_1_0",
     .change_at_last = lmdb_1_0,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is in LMDB's file format 2, this recmap reads format 1 (LMDB 0.9)"},
    {.name = "file_is_lmdb_of_the_other_byte_order",
     .change_at_last = lmdb_swapped,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a big-endian machine, which this one is not"},
    {.name = "pages_are_missing_before_the_seal",
     .change_at_last = cut_middle,
     .message = "the file has 213056 bytes, its seal says 217152"},
    {.name = "pages_were_added_before_the_seal",
     .change_at_last = add_middle,
     .message = "the file has 221248 bytes, its seal says 217152"},
    {.name = "seal_hash",
     .change_at_last = flip_seal,
     .message = "the seal at the end of the index is damaged"},
    {.name = "seal_version_newer",
     .field = {seal_of, SEAL_VERSION_AT, 4, 2},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is sealed in version 2, this recmap reads version 1"},
    {.name = "seal_version_zero",
     .field = {seal_of, SEAL_VERSION_AT, 4, 0},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is sealed in version 0, this recmap reads version 1"},
    {.name = "seal_lmdb_version",
     .field = {seal_of, SEAL_LMDB_VERSION_AT, 4, 2},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index is in LMDB's file format 2, this recmap reads format 1 (LMDB 0.9)"},
    {.name = "seal_byte_order_other",
     .change = other_byte_order,
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a big-endian machine, which this one is not"},
    {.name = "seal_byte_order_unknown",
     .field = {seal_of, SEAL_BYTE_ORDER_AT, 1, 7},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a strange machine, which this one is not"},
    {.name = "seal_word_size_32",
     .field = {seal_of, SEAL_WORD_SIZE_AT, 1, 4},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a 32-bit machine, which this one is not"},
    {.name = "seal_word_size_unknown",
     .field = {seal_of, SEAL_WORD_SIZE_AT, 1, 0x10},
     .status = RECMAP_UNSUPPORTED,
     .message = "the index was written on a strange machine, which this one is not"},
    {.name = "seal_zero_bytes",
     .field = {seal_of, 22, 2, 1},
     .message = "the seal's bytes 22 and 23 are not zero"},
    {.name = "seal_file_size",
     .field = {seal_of, SEAL_FILE_SIZE_AT, 8, 0x10000000000u},
     .message = "the file has 217152 bytes, its seal says 1099511627776"},
    {.name = "seal_page_size_zero",
     .field = {seal_of, SEAL_PAGE_SIZE_AT, 4, 0},
     .message = "the seal's page size is 0"},
    {.name = "seal_page_size_odd",
     .field = {seal_of, SEAL_PAGE_SIZE_AT, 4, 0x1001},
     .message = "the seal's page size is 4097"},
    {.name = "seal_page_size_large",
     .field = {seal_of, SEAL_PAGE_SIZE_AT, 4, 0x10000},
     .message = "the seal's page size is 65536"},
    {.name = "seal_page_size_double",
     .field = {seal_of, SEAL_PAGE_SIZE_AT, 4, 0x2000},
     .message = "the seal counts 53 pages of 8192 bytes in a file of 217152"},
    {.name = "seal_page_count_huge",
     .field = {seal_of, SEAL_PAGE_COUNT_AT, 8, 0xffffffffffffffffu},
     .message = "the seal counts 18446744073709551615 pages of 4096 bytes in a file of 217152"},
    {.name = "seal_page_count_wraps",
     .field = {seal_of, SEAL_PAGE_COUNT_AT, 8, 0},
     .value_of = wrapping_count,
     .message = "the seal counts 4503599627370549 pages of 4096 bytes in a file of 217152"},
    {.name = "seal_page_count_one",
     .field = {seal_of, SEAL_PAGE_COUNT_AT, 8, 1},
     .message = "the seal counts 1 pages of 4096 bytes in a file of 217152"},
    {.name = "meta_number",
     .field = {newer_meta, PAGE_NUMBER, 8, 7},
     .message = "meta page 0 is page 7 of kind 0x8"},
    {.name = "meta_kind",
     .field = {newer_meta, PAGE_KIND, 2, 2},
     .message = "meta page 0 is page 0 of kind 0x2"},
    {.name = "meta_magic",
     .field = {newer_meta, META_MAGIC, 4, 0},
     .message = "meta page 0 has magic 0x00000000"},
    {.name = "meta_version",
     .field = {newer_meta, META_VERSION, 4, 0x3e7},
     .message = "meta page 0 is of LMDB's file format 999"},
    {.name = "meta_page_size_zero",
     .field = {newer_meta, META_PAGE_SIZE, 4, 0},
     .message = "meta page 0 has a page size of 0, the seal has 4096"},
    {.name = "meta_page_size_other",
     .field = {newer_meta, META_PAGE_SIZE, 4, 0x2000},
     .message = "meta page 0 has a page size of 8192, the seal has 4096"},
    {.name = "meta_last_page_less",
     .field = {newer_meta, META_LAST_PAGE, 8, 5},
     .message = "the last page is 5, the seal counts 53 pages"},
    {.name = "meta_last_page_more",
     .field = {newer_meta, META_LAST_PAGE, 8, 0x8000000000000000u},
     .message = "meta page 0 ends at page 9223372036854775808, the file has 53"},
    {.name = "older_meta_number",
     .field = {older_meta, PAGE_NUMBER, 8, 7},
     .message = "meta page 1 is page 7 of kind 0x8"},
    {.name = "older_meta_kind",
     .field = {older_meta, PAGE_KIND, 2, 0},
     .message = "meta page 1 is page 1 of kind 0x0"},
    {.name = "older_meta_magic",
     .field = {older_meta, META_MAGIC, 4, 1},
     .message = "meta page 1 has magic 0x00000001"},
    {.name = "older_meta_version",
     .field = {older_meta, META_VERSION, 4, 2},
     .message = "meta page 1 is of LMDB's file format 2"},
    {.name = "older_meta_page_size_zero",
     .field = {older_meta, META_PAGE_SIZE, 4, 0},
     .message = "meta page 1 has a page size of 0, the seal has 4096"},
    {.name = "older_meta_last_page",
     .field = {older_meta, META_LAST_PAGE, 8, 0xffffffffffffffffu},
     .message = "meta page 1 ends at page 18446744073709551615, the file has 53"},
    {.name = "older_meta_is_newer",
     .change = exchange_transactions,
     .message = "the last page is 2, the seal counts 53 pages"},
};

int main(void) {
    enum { COUNT = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++) tests[i] = store_break_test(&cases[i]);
    return cmocka_run_group_tests(tests, store_breaks_enter, store_breaks_leave);
}
