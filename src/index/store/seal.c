#include "index/store/seal.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"

const char *store_table_name(enum store_table table) {
    static const char *const names[STORE_TABLE_COUNT] = {
        [STORE_MANIFEST] = "manifest", [STORE_SHARDS] = "shards",   [STORE_OFFSETS] = "offsets",
        [STORE_IDS] = "ids",           [STORE_COLUMNS] = "columns", [STORE_DAMAGE] = "damage",
        [STORE_POINTS] = "points",     [STORE_COUNTS] = "counts",
    };
    return names[table];
}

enum {
    VERSION_OFFSET = 8,
    LMDB_VERSION_OFFSET = 12,
    PAGE_SIZE_OFFSET = 16,
    BYTE_ORDER_OFFSET = 20,
    WORD_SIZE_OFFSET = 21,
    ZERO_OFFSET = 22,
    PAGE_COUNT_OFFSET = 24,
    FILE_SIZE_OFFSET = 32,
    CONTENT_HASH_OFFSET = 40,
    TRAILER_HASH_OFFSET = 56,
};

enum { ORDER_LITTLE_ENDIAN = 1, ORDER_BIG_ENDIAN = 2 };

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static const bool machine_is_big_endian = true;
#else
static const bool machine_is_big_endian = false;
#endif

static uint8_t machine_order(void) {
    return machine_is_big_endian ? ORDER_BIG_ENDIAN : ORDER_LITTLE_ENDIAN;
}

static const char magic[8] = {'R', 'M', 'X', 's', 'e', 'a', 'l', '\n'};

static const char *const build_again = "build the index again with `recmap index`";

void seal_encode(uint8_t bytes[SEAL_SIZE], const struct seal_fields *seal) {
    memcpy(bytes, magic, sizeof magic);
    store32(bytes + VERSION_OFFSET, SEAL_VERSION);
    store32(bytes + LMDB_VERSION_OFFSET, SEAL_LMDB_VERSION);
    store32(bytes + PAGE_SIZE_OFFSET, seal->page_size);
    bytes[BYTE_ORDER_OFFSET] = machine_order();
    bytes[WORD_SIZE_OFFSET] = SEAL_WORD_SIZE;
    store16(bytes + ZERO_OFFSET, 0);
    store64(bytes + PAGE_COUNT_OFFSET, seal->page_count);
    store64(bytes + FILE_SIZE_OFFSET, seal->file_size);
    memcpy(bytes + CONTENT_HASH_OFFSET, seal->content_hash, sizeof seal->content_hash);
    store64(bytes + TRAILER_HASH_OFFSET, XXH3_64bits(bytes, TRAILER_HASH_OFFSET));
}

bool seal_is_present(const uint8_t bytes[SEAL_SIZE]) {
    return !memcmp(bytes, magic, sizeof magic);
}

static recmap_status fail_version(uint32_t version, recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED,
         "the index is sealed in version %" PRIu32 ", this recmap reads version %d", version,
         SEAL_VERSION);
    fail_advise(error, "use a newer recmap, or %s", build_again);
    return RECMAP_UNSUPPORTED;
}

static recmap_status fail_lmdb_version(uint32_t version, recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED,
         "the index is in LMDB's file format %" PRIu32 ", this recmap reads format %d (LMDB 0.9)",
         version, SEAL_LMDB_VERSION);
    fail_advise(error, "%s of this version", build_again);
    return RECMAP_UNSUPPORTED;
}

static recmap_status fail_machine(const char *machine, recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED, "the index was written on a %s machine, which this one is not",
         machine);
    fail_advise(error, "LMDB's files are not portable between such machines: %s here", build_again);
    return RECMAP_UNSUPPORTED;
}

static recmap_status check_machine(const uint8_t bytes[SEAL_SIZE], recmap_error *error) {
    uint32_t lmdb_version = load32(bytes + LMDB_VERSION_OFFSET);
    uint8_t order = bytes[BYTE_ORDER_OFFSET];
    if (lmdb_version != SEAL_LMDB_VERSION) return fail_lmdb_version(lmdb_version, error);
    if (order != machine_order())
        return fail_machine(order == ORDER_BIG_ENDIAN      ? "big-endian"
                            : order == ORDER_LITTLE_ENDIAN ? "little-endian"
                                                           : "strange",
                            error);
    if (bytes[WORD_SIZE_OFFSET] != SEAL_WORD_SIZE)
        return fail_machine(bytes[WORD_SIZE_OFFSET] == 4 ? "32-bit" : "strange", error);
    return RECMAP_OK;
}

static recmap_status fail_size(uint64_t expected, uint64_t actual, recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the file has %" PRIu64 " byte%s, its seal says %" PRIu64, actual,
         plural(actual), expected);
    fail_advise(error, "%s", build_again);
    return RECMAP_CORRUPT;
}

static bool page_size_is_valid(uint32_t size) {
    return size >= SEAL_PAGE_SIZE_MIN && size <= SEAL_PAGE_SIZE_MAX && !(size & (size - 1));
}

/* Checks page size, page count and file size of a seal that is otherwise valid. */
static recmap_status check_geometry(const struct seal_fields *seal, recmap_error *error) {
    if (!page_size_is_valid(seal->page_size))
        fail(error, RECMAP_CORRUPT, "the seal's page size is %" PRIu32, seal->page_size);
    else if (seal->page_count < 2 ||
             seal->page_count > (UINT64_MAX - SEAL_SIZE) / seal->page_size ||
             seal->page_count * seal->page_size + SEAL_SIZE != seal->file_size)
        fail(error, RECMAP_CORRUPT,
             "the seal counts %" PRIu64 " pages of %" PRIu32 " bytes in a file of %" PRIu64,
             seal->page_count, seal->page_size, seal->file_size);
    else return RECMAP_OK;
    fail_advise(error, "%s", build_again);
    return RECMAP_CORRUPT;
}

/* The trailer's own hash is checked first: after that, a wrong field means another version or
 * machine and not damage. Its place is the same in all versions. */
recmap_status seal_decode(struct seal_fields *seal, const uint8_t bytes[SEAL_SIZE],
                          uint64_t file_size, recmap_error *error) {
    uint32_t version = load32(bytes + VERSION_OFFSET);
    if (load64(bytes + TRAILER_HASH_OFFSET) != XXH3_64bits(bytes, TRAILER_HASH_OFFSET)) {
        fail(error, RECMAP_CORRUPT, "the seal at the end of the index is damaged");
        fail_advise(error, "%s", build_again);
        return RECMAP_CORRUPT;
    }
    if (version != SEAL_VERSION) return fail_version(version, error);
    RETURN_IF_FAILED(check_machine(bytes, error));
    if (load16(bytes + ZERO_OFFSET)) {
        fail(error, RECMAP_CORRUPT, "the seal's bytes 22 and 23 are not zero");
        fail_advise(error, "%s", build_again);
        return RECMAP_CORRUPT;
    }
    struct seal_fields fields = {.page_size = load32(bytes + PAGE_SIZE_OFFSET),
                                 .page_count = load64(bytes + PAGE_COUNT_OFFSET),
                                 .file_size = load64(bytes + FILE_SIZE_OFFSET)};
    memcpy(fields.content_hash, bytes + CONTENT_HASH_OFFSET, sizeof fields.content_hash);
    if (fields.file_size != file_size) return fail_size(fields.file_size, file_size, error);
    recmap_status status = check_geometry(&fields, error);
    if (status == RECMAP_OK) *seal = fields;
    return status;
}

/* LMDB's first page starts with a header of 16 bytes (24 in LMDB 1.0), its magic number and the
 * version of its format, both in the byte order of the machine that wrote them. */
static bool is_lmdb(const uint8_t *start, size_t size, uint32_t *version, bool *is_big_endian) {
    for (size_t offset = 16; offset <= 24 && offset + 8 <= size; offset += 8) {
        uint32_t number = load32(start + offset);
        *version = load32(start + offset + 4);
        *is_big_endian = number == 0xdec0efbeu;
        if (*is_big_endian) *version = __builtin_bswap32(*version);
        if (*is_big_endian || number == 0xbeefc0deu) return true;
    }
    return false;
}

recmap_status seal_fail_absent(const uint8_t *start, size_t size, recmap_error *error) {
    uint32_t version;
    bool is_big_endian;
    if (size >= 8 && !memcmp(start, "RMXview\n", 8)) {
        fail(error, RECMAP_CORRUPT, "the file is a selection, not an index");
        fail_advise(error, "name its index, which `recmap info` prints");
        return RECMAP_CORRUPT;
    }
    if (!is_lmdb(start, size, &version, &is_big_endian)) {
        fail(error, RECMAP_CORRUPT,
             size ? "the file is not a recmap index" : "the file is empty, not an index");
        fail_advise(error, "name an .rmx file, or build one with `recmap index`");
        return RECMAP_CORRUPT;
    }
    if (version != SEAL_LMDB_VERSION) return fail_lmdb_version(version, error);
    if (is_big_endian != machine_is_big_endian)
        return fail_machine(is_big_endian ? "big-endian" : "little-endian", error);
    fail(error, RECMAP_CORRUPT,
         "there is no seal at the end: the index was cut short or something was added to it");
    fail_advise(error, "%s", build_again);
    return RECMAP_CORRUPT;
}

static void store_big_endian(uint8_t *out, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

static uint64_t load_big_endian(const uint8_t *source, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | source[i];
    return value;
}

void key_encode(uint8_t bytes[STORE_KEY_SIZE], struct store_key key) {
    store_big_endian(bytes, key.chunk, 8);
    store_big_endian(bytes + 8, key.series, 4);
}

struct store_key key_decode(const uint8_t bytes[STORE_KEY_SIZE]) {
    return (struct store_key){load_big_endian(bytes, 8), (uint32_t)load_big_endian(bytes + 8, 4)};
}

static uint64_t payload_hash(enum store_table table, struct store_key key, const uint8_t *payload,
                             size_t size) {
    uint8_t place[24];
    store32(place, (uint32_t)table);
    key_encode(place + 4, key);
    store64(place + 16, size);
    return XXH3_64bits_withSeed(payload, size, XXH3_64bits(place, sizeof place));
}

void value_prefix_encode(uint8_t prefix[VALUE_PREFIX_SIZE], enum store_table table,
                         struct store_key key, const uint8_t *payload, size_t size) {
    store64(prefix, payload_hash(table, key, payload, size));
    store64(prefix + 8, size);
}

bool value_prefix_matches(const uint8_t prefix[VALUE_PREFIX_SIZE], enum store_table table,
                          struct store_key key, const uint8_t *payload, size_t size) {
    return load64(prefix + 8) == size && load64(prefix) == payload_hash(table, key, payload, size);
}
