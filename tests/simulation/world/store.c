#include "simulation/world/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulation/world/faults.h"
#include "simulation/world/model.h"
#include "simulation/world/process.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

enum { ANSWER_NS = 100000, ADDED = 16 };

/* Bytes that were put before the records of each object: fewer than a frame has, so that no record
 * is where it was, and none where another one was. */
static unsigned added_size[SHARDS_MAX];
static bool has_changed;

static const struct model_shard *find(const char *url) {
    const char *name = strrchr(url, '/') + 1;
    for (unsigned i = 0; i < model_shard_count; i++)
        if (!strcmp(strrchr(model_shards[i].path, '/') + 1, name)) return &model_shards[i];
    return NULL;
}

bool store_stat(uint64_t *size, char *etag, size_t etag_size, const char *url) {
    const struct model_shard *shard = find(url);
    if (faults_hit("a request", ECONNRESET) || !shard) return false;
    schedule_wait(WAIT_OTHERS, NULL, schedule_now() + ANSWER_NS);
    unsigned added = added_size[shard - model_shards];
    if (has_changed) process_current()->was_disturbed = true;
    *size = shard->file_size + added;
    snprintf(etag, etag_size, "%016" PRIx64 "-%u", shard->seed, added);
    return true;
}

void store_change(struct random_stream *choices) {
    size_t i = (size_t)random_below(choices, model_shard_count);
    if (added_size[i] == ADDED) return;
    added_size[i]++;
    has_changed = true;
    report->fault_count++;
    trace("the object of %s changes", model_shards[i].path);
}

static void copy_bytes(uint8_t *data, size_t size, uint64_t offset,
                       const struct model_shard *shard) {
    unsigned added = added_size[shard - model_shards];
    for (; size && offset < added; size--, offset++) *data++ = (uint8_t)offset;
    if (size) memcpy(data, shard->file + offset - added, size);
}

/* A connection that is dropped has delivered a part of the bytes. */
bool store_read(void *data, size_t size, uint64_t offset, const char *url) {
    const struct model_shard *shard = find(url);
    trace("requests %zu bytes of %s", size, url);
    if (!shard || offset + size > shard->file_size + added_size[shard - model_shards])
        run_fail("bytes are requested that the object %s does not have", url);
    bool fails = faults_hit("a request", ECONNRESET);
    schedule_wait(WAIT_OTHERS, NULL, schedule_now() + ANSWER_NS);
    if (has_changed) process_current()->was_disturbed = true;
    copy_bytes(data, fails ? size / 2 : size, offset, shard);
    return !fails;
}
