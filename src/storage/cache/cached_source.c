#include "storage/cache/cached_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "storage/cache/cache_file.h"

struct cached_source {
    struct source source; /* first, so that a source is its object */
    struct source *origin;
    struct cache_file *file;
    struct disk_cache *cache;
    bool checks_blocks;
};

/* How one read is made. If all of its blocks are in the cache, it is made at once, and no range is
 * requested. Else the range from the first to the last missing block is requested, and the blocks
 * before and after it come from the cache. If the cache is full, only the bytes of the read are
 * requested, as without a cache. */
struct cached_read {
    struct block_range blocks;
    struct block_range missing;
    uint8_t *bytes; /* of all blocks; NULL: the read's own memory is used */
    size_t request; /* index of the request; SIZE_MAX: none */
};

struct cached_reads {
    struct cached_read *plans; /* one for each read */
    struct source_read *requests;
    size_t *origins; /* the read of each request */
    size_t request_count;
};

static struct cached_source *cached_of(const struct source_read *read) {
    return (struct cached_source *)read->source;
}

/* ---- Planning. */

static recmap_status allocate_blocks(struct cached_read *plan, const struct cached_source *cached,
                                     recmap_error *error) {
    if (!plan->bytes) plan->bytes = malloc(cache_file_size(cached->file, plan->blocks));
    return plan->bytes ? RECMAP_OK : fail_memory(error);
}

/* The bytes of the plan's blocks from a block on. */
static uint8_t *bytes_at(const struct cached_read *plan, uint64_t block) {
    return plan->bytes + (block - plan->blocks.begin) * CACHE_BLOCK;
}

static bool read_part(const struct cached_read *plan, const struct cached_source *cached,
                      struct block_range part, const uint32_t *numbers) {
    return part.begin == part.end ||
           cache_file_read_blocks(cached->file, bytes_at(plan, part.begin), part,
                                  numbers + (part.begin - plan->blocks.begin));
}

static void copy_out(const struct cached_read *plan, const struct source_read *read) {
    memcpy(read->data, plan->bytes + (read->offset - cache_file_offset(plan->blocks.begin)),
           read->size);
}

/* Reads the present blocks. If they are damaged, all blocks are missing. */
static recmap_status read_present(struct cached_read *plan, const struct source_read *read,
                                  const uint32_t *numbers, recmap_error *error) {
    const struct cached_source *cached = cached_of(read);
    struct block_range blocks = plan->blocks, missing = plan->missing;
    bool is_whole = missing.begin == missing.end, is_good;
    if (is_whole && !cached->checks_blocks) {
        is_good = cache_file_read(cached->file, read->data, read->size, read->offset);
    } else {
        RETURN_IF_FAILED(allocate_blocks(plan, cached, error));
        struct block_range before = {blocks.begin, missing.begin},
                           after = {missing.end, blocks.end};
        is_good = read_part(plan, cached, before, numbers) &&
                  read_part(plan, cached, after, numbers);
        if (is_good && is_whole) copy_out(plan, read);
    }
    if (is_good) return RECMAP_OK;
    cache_file_forget(cached->file, blocks);
    plan->missing = blocks;
    return RECMAP_OK;
}

static uint64_t missing_space(const struct cached_read *plan) {
    return (plan->missing.end - plan->missing.begin) * CACHE_BLOCK;
}

/* Requests what is missing, with space for it in the cache; or else only the read itself. */
static recmap_status add_request(struct cached_reads *reads, struct cached_read *plan,
                                 const struct source_read *read, recmap_error *error) {
    struct cached_source *cached = cached_of(read);
    struct source_read *request = &reads->requests[reads->request_count];
    if (disk_cache_reserve(cached->cache, missing_space(plan))) {
        recmap_status status = allocate_blocks(plan, cached, error);
        if (status != RECMAP_OK) disk_cache_settle(cached->cache, missing_space(plan), 0);
        RETURN_IF_FAILED(status);
        size_t size = cache_file_size(cached->file, plan->missing);
        size_t needed = read->size - read->gap_size;
        *request = (struct source_read){.source = cached->origin,
                                        .data = bytes_at(plan, plan->missing.begin),
                                        .size = size,
                                        .offset = cache_file_offset(plan->missing.begin),
                                        .gap_size = size > needed ? size - needed : 0};
    } else {
        free(plan->bytes);
        plan->bytes = NULL;
        *request = *read;
        request->source = cached->origin;
    }
    plan->request = reads->request_count++;
    return RECMAP_OK;
}

/* The usual case once the cache is full: one read, as of a local file. */
static bool read_seen(const struct cached_source *cached, struct block_range blocks,
                      const struct source_read *read) {
    return !cached->checks_blocks && cache_file_has(cached->file, blocks) &&
           cache_file_read(cached->file, read->data, read->size, read->offset);
}

/* Copies the blocks of a read that the cache has, and adds one request to the origin for the rest:
 * from the first missing block to the last one. */
static recmap_status plan_read(struct cached_reads *reads, const struct source_read *read, size_t i,
                               recmap_error *error) {
    const struct cached_source *cached = cached_of(read);
    struct cached_read *plan = &reads->plans[i];
    plan->request = SIZE_MAX;
    if (!read->size) return RECMAP_OK;
    reads->origins[reads->request_count] = i;
    if (read->offset > cached->source.stat.size ||
        read->size > cached->source.stat.size - read->offset) { /* the origin reports it */
        plan->request = reads->request_count;
        reads->requests[reads->request_count] = *read;
        reads->requests[reads->request_count++].source = cached->origin;
        return RECMAP_OK;
    }
    plan->blocks = cache_file_blocks(read->offset, read->size);
    if (read_seen(cached, plan->blocks, read)) return RECMAP_OK;
    uint32_t *numbers = malloc((size_t)(plan->blocks.end - plan->blocks.begin) * sizeof *numbers);
    if (!numbers) return fail_memory(error);
    plan->missing = cache_file_find_missing(numbers, cached->file, plan->blocks);
    recmap_status status = RECMAP_OK;
    bool has_present = plan->missing.end - plan->missing.begin <
                       plan->blocks.end - plan->blocks.begin;
    if (has_present) status = read_present(plan, read, numbers, error);
    free(numbers);
    if (status == RECMAP_OK && plan->missing.begin < plan->missing.end)
        status = add_request(reads, plan, read, error);
    return status;
}

/* ---- Reading. */

/* Stores what arrived, and copies it. If a request failed or was interrupted, it is not known which
 * others arrived, so the space of all is given back. */
static void finish_read(const struct cached_read *plan, const struct source_read *read,
                        bool has_arrived) {
    struct cached_source *cached = cached_of(read);
    if (plan->request == SIZE_MAX || !plan->bytes) return;
    if (has_arrived) {
        cache_file_store(cached->file, bytes_at(plan, plan->missing.begin), plan->missing);
        copy_out(plan, read);
    } else {
        disk_cache_settle(cached->cache, missing_space(plan), 0);
    }
}

static recmap_status plan_reads(size_t *failed_index, struct cached_reads *plans,
                                const struct source_read *reads, size_t count,
                                struct interrupt *interrupt, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        *failed_index = i;
        RETURN_IF_FAILED(plan_read(plans, &reads[i], i, error));
        bool is_hit = plans->plans[i].request == SIZE_MAX;
        disk_cache_count(cached_of(&reads[i])->cache, is_hit, !is_hit);
        if (plans->plans[i].request == SIZE_MAX)
            RETURN_IF_FAILED(interrupt_check(interrupt, reads[i].size, error));
    }
    return RECMAP_OK;
}

static recmap_status request_missing(size_t *failed_index, struct cached_reads *plans,
                                     struct interrupt *interrupt, recmap_error *error) {
    size_t request_index = 0;
    if (!plans->request_count) return RECMAP_OK;
    recmap_status status =
        source_read_all(&request_index, plans->requests, plans->request_count, interrupt, error);
    if (status != RECMAP_OK) *failed_index = plans->origins[request_index];
    return status;
}

static recmap_status read_cached(size_t *failed_index, const struct source_read *reads,
                                 size_t count, struct interrupt *interrupt, recmap_error *error) {
    struct cached_reads plans = {.plans = calloc(count + 1, sizeof *plans.plans),
                                 .requests = calloc(count + 1, sizeof *plans.requests),
                                 .origins = calloc(count + 1, sizeof *plans.origins)};
    bool is_ready = plans.plans && plans.requests && plans.origins;
    *failed_index = 0;
    recmap_status status = is_ready ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK)
        status = plan_reads(failed_index, &plans, reads, count, interrupt, error);
    if (status == RECMAP_OK) status = request_missing(failed_index, &plans, interrupt, error);
    for (size_t i = 0; is_ready && i < count; i++)
        finish_read(&plans.plans[i], &reads[i], status == RECMAP_OK);
    for (size_t i = 0; plans.plans && i < count; i++) free(plans.plans[i].bytes);
    free(plans.plans);
    free(plans.requests);
    free(plans.origins);
    if (count) disk_cache_warn(cached_of(&reads[0])->cache);
    return status;
}

static void forget_cached(struct source *source, uint64_t offset, uint64_t size) {
    struct cached_source *cached = (struct cached_source *)source;
    if (size) cache_file_forget(cached->file, cache_file_blocks(offset, size));
}

static bool has_cached(struct source *source, uint64_t offset, uint64_t size) {
    const struct cached_source *cached = (struct cached_source *)source;
    if (offset > source->stat.size || size > source->stat.size - offset) return false;
    return !size || cache_file_has(cached->file, cache_file_blocks(offset, size));
}

static struct source *origin_of_cached(struct source *source) {
    return ((struct cached_source *)source)->origin;
}

static void close_cached(struct source *source) {
    struct cached_source *cached = (struct cached_source *)source;
    cache_file_close(cached->file);
    source_close(cached->origin);
    free(cached);
}

static const struct source_table cached_table = {read_cached, close_cached, forget_cached,
                                                 has_cached, origin_of_cached};

void cached_source_replace(struct source **source, struct disk_cache *cache, bool checks_blocks) {
    struct source *origin = *source;
    struct cache_key key = {origin->name, origin->etag, origin->stat.size, origin->stat.mtime_ns,
                            0};
    struct cached_source *cached = calloc(1, sizeof *cached);
    struct cache_file *file = cached ? cache_file_open(cache, &key) : NULL;
    if (!file) {
        free(cached);
        return;
    }
    *cached = (struct cached_source){.source = *origin,
                                     .origin = origin,
                                     .file = file,
                                     .cache = cache,
                                     .checks_blocks = checks_blocks};
    cached->source.table = &cached_table;
    *source = &cached->source;
}
