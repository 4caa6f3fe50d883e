/* Any bytes as a shard, scanned by several threads in tiny segments: records and damage equal a
 * plain reader's. The first byte chooses threads and mode, the second the size of segments. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "index/scan/scan.h"
#include "support/shards/oracle.h"

/* What is still due of what the plain reader found. */
struct check {
    struct oracle_file due;
    size_t record, damage;
    uint64_t size;
    bool has_ended;
};

static void require(bool holds) {
    if (!holds) abort();
}

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    (void)context;
    (void)path;
    (void)error;
    return RECMAP_OK;
}

static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct check *check = context;
    (void)error;
    for (size_t i = 0; i < run->count; i++, check->record++) {
        require(check->record < check->due.record_count);
        const struct oracle_record *due = &check->due.records[check->record];
        require(run->offsets[i] == due->offset && run->sizes[i] == due->size &&
                run->checks[i] == due->check);
    }
    return RECMAP_OK;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    struct check *check = context;
    (void)error;
    require(check->damage < check->due.damage_count && reason[0]);
    const struct oracle_damage *due = &check->due.damages[check->damage++];
    require(offset == due->offset && length == due->length);
    return RECMAP_OK;
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    struct check *check = context;
    (void)error;
    check->has_ended = end->size == check->size;
    return RECMAP_OK;
}

/* Scans one file with several threads and small segments, so that workers often start inside a
 * record. The result must equal the oracle's single pass. */
static void scan_file(const char *path, const uint8_t *data, size_t size, uint8_t mode,
                      uint8_t segment) {
    bool skips = mode & 1;
    struct check at = {.due = oracle_read(data, size, !skips), .size = size};
    recmap_error error = RECMAP_ERROR_INIT;
    struct extractor *nothing;
    if (extractor_create(&nothing, NULL, &error) != RECMAP_OK) abort();
    struct scan_sink sink = {&at, begin_shard, add_run, add_damage, end_shard, NULL};
    recmap_progress totals = {0};
    struct scan_options options = {
        .thread_count = 1 + (mode >> 1) % 4,
        .on_bad_record = skips ? RECMAP_ON_BAD_RECORD_SKIP : RECMAP_ON_BAD_RECORD_ERROR,
        .extractor = nothing,
        .segment_size = 16 + (uint64_t)segment * 4,
        .totals = &totals,
    };
    recmap_status status = scan_shards(&path, 1, &sink, &options, &error);
    bool fails = !skips && at.due.damage_count;
    require((status == RECMAP_OK) == !fails);
    require(at.record == at.due.record_count && at.has_ended == !fails);
    if (fails) require(error.offset == at.due.damages[0].offset && error.message[0]);
    else require(at.damage == at.due.damage_count);
    oracle_deinit(&at.due);
    extractor_destroy(nothing);
}

/* A compressed shard is none for the plain reader. */
static bool is_compressed(const uint8_t *data, size_t size) {
    size_t looked_at = size < COMPRESSION_DETECT_SIZE ? size : COMPRESSION_DETECT_SIZE;
    return compression_detect(data, looked_at) != COMPRESSION_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || is_compressed(data + 2, size - 2)) return 0;
    int fd = memfd_create("shard", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, data + 2, size - 2, 0) != (ssize_t)(size - 2)) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    scan_file(path, data + 2, size - 2, data[0], data[1]);
    close(fd);
    return 0;
}
