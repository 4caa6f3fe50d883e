#include "storage/cache/cache_file.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/crc32c.h"
#include "base/os/file.h"
#include "base/os/private_file.h"

enum { SEEN_MAX = 64 }; /* numbers that are read at once */
enum { BITS = 64 };     /* of a word of struct cache_file's `present` */

enum { HEADER_SIZE = 8192, TEXT_MAX = 8000, TABLE_PART = 4096 };
enum { NUMBERS_STEP = TABLE_PART / sizeof(uint32_t) }; /* numbers that are handled at once */

/* The first bytes of the file. The texts are the URL and the ETag, each with a NUL. */
struct header {
    char magic[16];
    uint64_t size;
    int64_t mtime_ns;
    uint32_t block_size;
    uint32_t text_size;
    char text[TEXT_MAX];
    char padding[HEADER_SIZE - TEXT_MAX - 44];
    uint32_t check; /* CRC-32C of all bytes before it */
};

_Static_assert(sizeof(struct header) == HEADER_SIZE, "the header has no unnamed padding");

static const char header_magic[16] = "recmap object 1\n";

struct cache_file {
    struct disk_cache *cache;
    int fd;
    uint64_t size; /* of the object */
    uint64_t data_offset;
    _Atomic uint64_t *present; /* a bit for each block that was seen to be present */
};

static uint64_t count_blocks(uint64_t size) {
    return (size + CACHE_BLOCK - 1) / CACHE_BLOCK;
}

static uint64_t find_data_offset(uint64_t size) {
    uint64_t table = count_blocks(size) * sizeof(uint32_t);
    return HEADER_SIZE + (table + TABLE_PART - 1) / TABLE_PART * TABLE_PART;
}

/* ---- Headers. */

static uint32_t check_of(const struct header *header) {
    return crc32c(header, offsetof(struct header, check));
}

/* Returns false if the texts are too long. */
static bool fill_header(struct header *header, const struct cache_key *key) {
    size_t url_size = strlen(key->url) + 1, etag_size = strlen(key->etag) + 1;
    if (url_size + etag_size > TEXT_MAX) return false;
    memset(header, 0, sizeof *header);
    memcpy(header->magic, header_magic, sizeof header_magic);
    header->size = key->size;
    header->mtime_ns = key->mtime_ns;
    header->block_size = CACHE_BLOCK;
    header->text_size = (uint32_t)(url_size + etag_size);
    memcpy(header->text, key->url, url_size);
    memcpy(header->text + url_size, key->etag, etag_size);
    header->check = check_of(header);
    return true;
}

enum header_kind {
    HEADER_SAME,
    HEADER_OTHER,  /* of another key whose name is the same, or unknown */
    HEADER_BROKEN, /* the file is new or damaged */
};

static enum header_kind judge_header(int fd, const struct header *expected) {
    struct header *header = malloc(sizeof *header);
    enum header_kind kind = HEADER_OTHER;
    if (header) {
        bool is_read = file_read_at(fd, header, sizeof *header, 0, "", NULL) == RECMAP_OK;
        if (!is_read || header->check != check_of(header)) kind = HEADER_BROKEN;
        else if (!memcmp(header, expected, sizeof *header)) kind = HEADER_SAME;
    }
    free(header);
    return kind;
}

/* ---- Opening. */

/* Makes an empty or damaged file one without any blocks. */
static bool write_header(int fd, const struct header *header) {
    uint64_t size = find_data_offset(header->size) + header->size;
    return file_resize(fd, 0, "", NULL) == RECMAP_OK &&
           file_resize(fd, size, "", NULL) == RECMAP_OK &&
           file_write_at(fd, header, sizeof *header, 0, "", NULL) == RECMAP_OK;
}

/* Creates the file, unless another process did so meanwhile. A file with another key stays as it
 * is: it may be in use. */
static bool create(int *fd, struct disk_cache *cache, const char *path,
                   const struct header *header) {
    uint64_t space = find_data_offset(header->size);
    if (!disk_cache_reserve(cache, space)) return false;
    int lock = disk_cache_lock(cache);
    bool is_open = lock >= 0 && private_open(fd, path, true, NULL) == RECMAP_OK;
    enum header_kind kind = is_open ? judge_header(*fd, header) : HEADER_OTHER;
    bool is_written = kind == HEADER_BROKEN && write_header(*fd, header);
    bool is_good = kind == HEADER_SAME || is_written;
    disk_cache_unlock(lock);
    disk_cache_settle(cache, space, is_written ? space : 0);
    if (is_open && !is_good) {
        file_close(*fd);
        if (kind == HEADER_BROKEN) disk_cache_stop(cache);
    }
    return is_good;
}

static bool open_existing(int *fd, const char *path, const struct header *header) {
    if (private_open(fd, path, false, NULL) != RECMAP_OK) return false;
    if (judge_header(*fd, header) == HEADER_SAME && disk_cache_touch(path)) return true;
    file_close(*fd);
    return false;
}

/* Opens the file that holds the object, or creates it. Whatever fails, the caller reads without a
 * cache. */
struct cache_file *cache_file_open(struct disk_cache *cache, const struct cache_key *key) {
    char name[CACHE_NAME_SIZE];
    int fd = -1;
    if (!cache_key_is_exact(key)) return NULL;
    cache_name_write(name, key);
    struct header *header = malloc(sizeof *header);
    struct cache_file *file = calloc(1, sizeof *file);
    char *path = path_join(disk_cache_folder(cache), name);
    bool is_open = header && file && path && fill_header(header, key) &&
                   (open_existing(&fd, path, header) || create(&fd, cache, path, header));
    free(header);
    free(path);
    if (is_open)
        *file = (struct cache_file){cache, fd, key->size, find_data_offset(key->size), NULL};
    if (is_open) file->present = calloc(count_blocks(key->size) / BITS + 1, sizeof *file->present);
    if (is_open && file->present) return file;
    if (is_open) file_close(fd);
    free(file);
    return NULL;
}

void cache_file_claim(const struct disk_cache *cache, const struct cache_key *key) {
    char name[CACHE_NAME_SIZE];
    cache_name_write(name, key);
    char *path = path_join(disk_cache_folder(cache), name);
    if (path) disk_cache_touch(path);
    free(path);
}

void cache_file_close(struct cache_file *file) {
    if (!file) return;
    file_close(file->fd);
    free(file->present);
    free(file);
}

/* ---- Blocks. */

struct block_range cache_file_blocks(uint64_t offset, uint64_t size) {
    return (struct block_range){offset / CACHE_BLOCK, count_blocks(offset + size)};
}

uint64_t cache_file_offset(uint64_t block) {
    return block * CACHE_BLOCK;
}

size_t cache_file_size(const struct cache_file *file, struct block_range blocks) {
    uint64_t begin = blocks.begin * CACHE_BLOCK, end = blocks.end * CACHE_BLOCK;
    return (size_t)((end < file->size ? end : file->size) - begin);
}

static uint64_t count_range(struct block_range blocks) {
    return blocks.end - blocks.begin;
}

static bool read_numbers(uint32_t *numbers, const struct cache_file *file,
                         struct block_range blocks) {
    return file_read_at(file->fd, numbers, count_range(blocks) * sizeof *numbers,
                        HEADER_SIZE + blocks.begin * sizeof *numbers, "", NULL) == RECMAP_OK;
}

static bool write_numbers(const struct cache_file *file, const uint32_t *numbers,
                          struct block_range blocks) {
    return file_write_at(file->fd, numbers, count_range(blocks) * sizeof *numbers,
                         HEADER_SIZE + blocks.begin * sizeof *numbers, "", NULL) == RECMAP_OK;
}

struct block_range cache_file_find_missing(uint32_t *numbers, const struct cache_file *file,
                                           struct block_range blocks) {
    if (!read_numbers(numbers, file, blocks)) return blocks;
    struct block_range missing = blocks;
    while (missing.begin < missing.end && numbers[missing.begin - blocks.begin]) missing.begin++;
    while (missing.begin < missing.end && numbers[missing.end - 1 - blocks.begin]) missing.end--;
    return missing;
}

/* ---- Blocks that were seen. */

static void note_present(const struct cache_file *file, struct block_range blocks) {
    for (uint64_t block = blocks.begin; block < blocks.end; block++)
        atomic_fetch_or_explicit(&file->present[block / BITS], 1ull << block % BITS,
                                 memory_order_relaxed);
}

static void note_missing(const struct cache_file *file, struct block_range blocks) {
    for (uint64_t block = blocks.begin; block < blocks.end; block++)
        atomic_fetch_and_explicit(&file->present[block / BITS], ~(1ull << block % BITS),
                                  memory_order_relaxed);
}

static bool was_seen(const struct cache_file *file, struct block_range blocks) {
    for (uint64_t block = blocks.begin; block < blocks.end; block++) {
        uint64_t word = atomic_load_explicit(&file->present[block / BITS], memory_order_relaxed);
        if (!(word >> block % BITS & 1)) return false;
    }
    return true;
}

bool cache_file_has(const struct cache_file *file, struct block_range blocks) {
    uint32_t numbers[SEEN_MAX];
    if (was_seen(file, blocks)) return true;
    for (struct block_range part = blocks; part.begin < blocks.end; part.begin = part.end) {
        part.end = part.begin + SEEN_MAX < blocks.end ? part.begin + SEEN_MAX : blocks.end;
        struct block_range missing = cache_file_find_missing(numbers, file, part);
        if (missing.begin < missing.end) return false;
        note_present(file, part);
    }
    return true;
}

bool cache_file_read(const struct cache_file *file, void *data, size_t size, uint64_t offset) {
    return file_read_at(file->fd, data, size, file->data_offset + offset, "", NULL) == RECMAP_OK;
}

/* Never 0, which means that the block is missing. */
static uint32_t number_of(const struct cache_file *file, const uint8_t *data, uint64_t block) {
    uint32_t crc = crc32c(data, cache_file_size(file, (struct block_range){block, block + 1}));
    return crc ? crc : 1;
}

bool cache_file_read_blocks(const struct cache_file *file, uint8_t *data, struct block_range blocks,
                            const uint32_t *numbers) {
    uint64_t offset = cache_file_offset(blocks.begin);
    if (!cache_file_read(file, data, cache_file_size(file, blocks), offset)) return false;
    for (uint64_t block = blocks.begin; block < blocks.end; block++, data += CACHE_BLOCK)
        if (number_of(file, data, block) != numbers[block - blocks.begin]) return false;
    return true;
}

/* Stores blocks that are missing, and returns whether that worked. */
static bool store_run(const struct cache_file *file, const uint8_t *data, struct block_range blocks,
                      uint32_t *numbers) {
    uint64_t offset = file->data_offset + cache_file_offset(blocks.begin);
    if (file_write_at(file->fd, data, cache_file_size(file, blocks), offset, "", NULL) != RECMAP_OK)
        return false;
    for (uint64_t i = 0; i < count_range(blocks); i++)
        numbers[i] = number_of(file, data + i * CACHE_BLOCK, blocks.begin + i);
    return write_numbers(file, numbers, blocks);
}

/* Writes runs of consecutive blocks that the file lacks: their numbers are 0. If the numbers cannot
 * be read, all blocks are written. The space for all blocks is reserved already; what the stored
 * ones do not use is given back, also after an error. */
void cache_file_store(struct cache_file *file, const uint8_t *data, struct block_range blocks) {
    uint32_t *numbers = calloc((size_t)count_range(blocks) + 1, sizeof *numbers);
    uint64_t used = 0;
    bool is_good = numbers != NULL;
    if (is_good && !read_numbers(numbers, file, blocks))
        memset(numbers, 0, (size_t)count_range(blocks) * sizeof *numbers);
    for (uint64_t block = blocks.begin, end; is_good && block < blocks.end; block = end) {
        uint32_t *first = numbers + (block - blocks.begin);
        bool is_present = *first != 0;
        for (end = block + 1; end < blocks.end; end++)
            if ((numbers[end - blocks.begin] != 0) != is_present) break;
        struct block_range run = {block, end};
        if (is_present) continue;
        used += count_range(run) * CACHE_BLOCK;
        is_good = store_run(file, data + (block - blocks.begin) * CACHE_BLOCK, run, first);
    }
    free(numbers);
    disk_cache_settle(file->cache, count_range(blocks) * CACHE_BLOCK, used);
    if (!is_good) disk_cache_stop(file->cache);
}

static uint64_t count_present(const uint32_t *numbers, struct block_range blocks) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < count_range(blocks); i++) count += numbers[i] != 0;
    return count;
}

/* The blocks stay on the disk, where the same blocks will be stored, so their space is reused. */
static void forget_part(struct cache_file *file, struct block_range part) {
    static const uint32_t zeros[NUMBERS_STEP];
    uint32_t numbers[NUMBERS_STEP];
    uint64_t present = read_numbers(numbers, file, part) ? count_present(numbers, part) : 0;
    if (write_numbers(file, zeros, part)) disk_cache_reuse(file->cache, present * CACHE_BLOCK);
    else disk_cache_stop(file->cache);
}

void cache_file_forget(struct cache_file *file, struct block_range blocks) {
    note_missing(file, blocks);
    for (struct block_range part = blocks; part.begin < blocks.end; part.begin = part.end) {
        part.end = part.begin + NUMBERS_STEP < blocks.end ? part.begin + NUMBERS_STEP : blocks.end;
        forget_part(file, part);
    }
}
