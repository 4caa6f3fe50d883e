#include "storage/cache/cache_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/crc32c.h"
#include "base/core/error.h"
#include "base/os/file.h"
#include "base/os/map.h"
#include "base/os/private_file.h"

enum { BITS = 64 };       /* of a word of struct cache_file's `present` */
enum { WRITE_STEP = 64 }; /* blocks that are written at once */

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
    uint64_t layout;
    char padding[HEADER_SIZE - TEXT_MAX - 52];
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
    char *path;
    struct file_map *map; /* NULL: read with pread */
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
    header->layout = key->layout;
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

/* Creates a file without any blocks in place of a damaged one, or of none. */
static recmap_status write_new(int *fd, const char *path, const struct header *header,
                               recmap_error *error) {
    uint64_t size = find_data_offset(header->size) + header->size;
    (void)private_remove(path); /* else opening it fails, or gives the damaged file */
    RETURN_IF_FAILED(private_open(fd, path, true, error));
    recmap_status status = file_resize(*fd, size, path, error);
    if (status == RECMAP_OK) status = file_write_at(*fd, header, sizeof *header, 0, path, error);
    if (status != RECMAP_OK) file_close(*fd);
    return status;
}

/* Opens the file, if another process created it meanwhile, or creates it. The cache is locked. A
 * file with another key, or of another user, stays as it is. */
static recmap_status open_or_create(int *fd, bool *is_created, const char *path,
                                    const struct header *header, recmap_error *error) {
    RETURN_IF_FAILED(private_open(fd, path, true, error));
    enum header_kind kind = judge_header(*fd, header);
    if (kind == HEADER_SAME) return RECMAP_OK;
    file_close(*fd);
    if (kind == HEADER_OTHER) return RECMAP_STALE;
    RETURN_IF_FAILED(write_new(fd, path, header, error));
    *is_created = true;
    return RECMAP_OK;
}

/* Returns true if others may be created although this file was not: another user has one of its
 * name, or the process has too many files open. */
static bool is_only_this(const recmap_error *reason) {
    int failed = reason->system_errno;
    return !failed || failed == EACCES || failed == EPERM || failed == ELOOP || failed == EMFILE ||
           failed == ENFILE;
}

static bool create(int *fd, struct disk_cache *cache, const char *path,
                   const struct header *header) {
    uint64_t space = find_data_offset(header->size);
    bool is_created = false;
    recmap_error reason = RECMAP_ERROR_INIT;
    if (!disk_cache_reserve(cache, space)) return false;
    int lock = disk_cache_lock(cache);
    recmap_status status = lock >= 0 ? open_or_create(fd, &is_created, path, header, &reason)
                                     : RECMAP_STALE;
    disk_cache_unlock(lock);
    disk_cache_settle(cache, space, is_created ? space : 0);
    if (status == RECMAP_IO && !is_only_this(&reason)) disk_cache_stop(cache, &reason);
    return status == RECMAP_OK;
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
    if (is_open) {
        *file = (struct cache_file){.cache = cache, .fd = fd, .size = key->size, .path = path};
        file->data_offset = find_data_offset(key->size);
        file->present = calloc(count_blocks(key->size) / BITS + 1, sizeof *file->present);
        if (file->present) return file;
        file_close(fd);
    }
    free(path);
    free(file);
    return NULL;
}

const char *cache_file_path(const struct cache_file *file) {
    return file->path;
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
    map_destroy(file->map);
    file_close(file->fd);
    free(file->present);
    free(file->path);
    free(file);
}

/* ---- Maps. */

void cache_file_map(struct cache_file *file) {
    uint64_t size = file->data_offset + file->size;
    struct file_map *map = NULL;
    if (size > SIZE_MAX || map_create(&map, file->fd, (size_t)size, file->path, NULL) != RECMAP_OK)
        return;
    file->map = map;
}

static bool is_whole(const struct cache_file *file) {
    struct file_stat stat;
    return file_get_stat(&stat, file->fd, file->path, NULL) == RECMAP_OK &&
           stat.size >= file->data_offset + file->size && !file->map->was_cut;
}

const uint8_t *cache_file_bytes(const struct cache_file *file) {
    return file->map && is_whole(file) ? file->map->data + file->data_offset : NULL;
}

bool cache_file_is_resident(const struct cache_file *file, uint64_t offset, uint64_t size) {
    offset += file->data_offset;
    return file->map ? map_is_resident(file->map, offset, size)
                     : file_is_resident(file->fd, offset, size);
}

void cache_file_will_need(const struct cache_file *file, uint64_t offset, uint64_t size) {
    offset += file->data_offset;
    if (file->map) map_advise(file->map, offset, size, MAP_ADVICE_WILL_NEED);
    else file_will_need(file->fd, offset, size);
}

void cache_file_expect_random(const struct cache_file *file) {
    if (file->map) map_advise(file->map, file->data_offset, file->size, MAP_ADVICE_RANDOM);
    else file_expect_random(file->fd);
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

static recmap_status write_numbers(const struct cache_file *file, const uint32_t *numbers,
                                   struct block_range blocks, recmap_error *error) {
    return file_write_at(file->fd, numbers, count_range(blocks) * sizeof *numbers,
                         HEADER_SIZE + blocks.begin * sizeof *numbers, file->path, error);
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

static bool was_seen(const struct cache_file *file, uint64_t block) {
    uint64_t word = atomic_load_explicit(&file->present[block / BITS], memory_order_relaxed);
    return word >> block % BITS & 1;
}

/* Looks at the block and its neighbours, which are asked for next if reads are not at random, and
 * soon anyway if they are: so of 64 calls, one reads the table. */
static void look_at(const struct cache_file *file, uint64_t block) {
    uint32_t numbers[BITS];
    uint64_t count = count_blocks(file->size), word = 0;
    struct block_range part = {block / BITS * BITS, block / BITS * BITS + BITS};
    if (part.end > count) part.end = count;
    if (!read_numbers(numbers, file, part)) return;
    for (uint64_t i = 0; i < count_range(part); i++) word |= (uint64_t)(numbers[i] != 0) << i;
    atomic_fetch_or_explicit(&file->present[block / BITS], word, memory_order_relaxed);
}

bool cache_file_has(const struct cache_file *file, struct block_range blocks) {
    for (uint64_t block = blocks.begin; block < blocks.end; block++) {
        if (was_seen(file, block)) continue;
        look_at(file, block);
        if (!was_seen(file, block)) return false;
    }
    return true;
}

bool cache_file_read(const struct cache_file *file, void *data, size_t size, uint64_t offset) {
    const uint8_t *bytes = cache_file_bytes(file);
    if (!bytes)
        return file_read_at(file->fd, data, size, file->data_offset + offset, "", NULL) ==
               RECMAP_OK;
    memcpy(data, bytes + offset, size);
    return true;
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

/* Writes blocks in parts that fit into a CPU's cache, each when its numbers were just computed. */
static recmap_status write_blocks(const struct cache_file *file, const uint8_t *data,
                                  struct block_range blocks, uint32_t *numbers,
                                  recmap_error *error) {
    for (struct block_range part = blocks; part.begin < blocks.end; part.begin = part.end) {
        part.end = part.begin + WRITE_STEP < blocks.end ? part.begin + WRITE_STEP : blocks.end;
        const uint8_t *bytes = data + (part.begin - blocks.begin) * CACHE_BLOCK;
        for (uint64_t i = 0; i < count_range(part); i++)
            numbers[part.begin - blocks.begin + i] =
                number_of(file, bytes + i * CACHE_BLOCK, part.begin + i);
        RETURN_IF_FAILED(file_write_at(file->fd, bytes, cache_file_size(file, part),
                                       file->data_offset + cache_file_offset(part.begin),
                                       file->path, error));
    }
    return RECMAP_OK;
}

/* Stores blocks that are missing. */
static recmap_status store_run(const struct cache_file *file, const uint8_t *data,
                               struct block_range blocks, uint32_t *numbers, recmap_error *error) {
    RETURN_IF_FAILED(write_blocks(file, data, blocks, numbers, error));
    RETURN_IF_FAILED(write_numbers(file, numbers, blocks, error));
    note_present(file, blocks);
    return RECMAP_OK;
}

/* Writes runs of consecutive blocks that the file lacks: their numbers are 0. If the numbers cannot
 * be read, all blocks are written. The space for all blocks is reserved already; what the stored
 * ones do not use is given back, also after an error. */
void cache_file_store(struct cache_file *file, const uint8_t *data, struct block_range blocks) {
    uint32_t *numbers = calloc((size_t)count_range(blocks) + 1, sizeof *numbers);
    uint64_t used = 0;
    recmap_error reason;
    recmap_status status = numbers ? RECMAP_OK : fail_memory(&reason);
    if (numbers && !read_numbers(numbers, file, blocks))
        memset(numbers, 0, (size_t)count_range(blocks) * sizeof *numbers);
    for (uint64_t block = blocks.begin, end; status == RECMAP_OK && block < blocks.end;
         block = end) {
        uint32_t *first = numbers + (block - blocks.begin);
        bool is_present = *first != 0;
        for (end = block + 1; end < blocks.end; end++)
            if ((numbers[end - blocks.begin] != 0) != is_present) break;
        struct block_range run = {block, end};
        if (is_present) continue;
        used += count_range(run) * CACHE_BLOCK;
        const uint8_t *bytes = data + (block - blocks.begin) * CACHE_BLOCK;
        status = store_run(file, bytes, run, first, &reason);
    }
    free(numbers);
    disk_cache_settle(file->cache, count_range(blocks) * CACHE_BLOCK, used);
    if (status != RECMAP_OK) disk_cache_stop(file->cache, &reason);
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
    recmap_error reason;
    uint64_t present = read_numbers(numbers, file, part) ? count_present(numbers, part) : 0;
    if (write_numbers(file, zeros, part, &reason) == RECMAP_OK)
        disk_cache_reuse(file->cache, present * CACHE_BLOCK);
    else disk_cache_stop(file->cache, &reason);
}

void cache_file_forget(struct cache_file *file, struct block_range blocks) {
    note_missing(file, blocks);
    for (struct block_range part = blocks; part.begin < blocks.end; part.begin = part.end) {
        part.end = part.begin + NUMBERS_STEP < blocks.end ? part.begin + NUMBERS_STEP : blocks.end;
        forget_part(file, part);
    }
}
