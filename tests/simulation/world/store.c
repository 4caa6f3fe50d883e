#include "simulation/world/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simulation/world/faults.h"
#include "simulation/world/model.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

enum { ANSWER_NS = 100000 };

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
    *size = shard->file_size;
    snprintf(etag, etag_size, "%016" PRIx64, shard->seed);
    return true;
}

/* A connection that is dropped has delivered a part of the bytes. */
bool store_read(void *data, size_t size, uint64_t offset, const char *url) {
    const struct model_shard *shard = find(url);
    trace("requests %zu bytes of %s", size, url);
    if (!shard || offset > shard->file_size || size > shard->file_size - offset)
        run_fail("bytes are requested that the object %s does not have", url);
    bool fails = faults_hit("a request", ECONNRESET);
    schedule_wait(WAIT_OTHERS, NULL, schedule_now() + ANSWER_NS);
    memcpy(data, shard->file + offset, fails ? size / 2 : size);
    return !fails;
}
