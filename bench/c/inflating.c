#include "inflating.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <isa-l/igzip_lib.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/os/thread.h"
#include "measure.h"
#include "set.h"

enum { PIECE = 1 << 20 };

static atomic_uint crc_sum; /* so that no CRC can be left out */

struct bare_inflater {
    struct inflate_state state;
    uint8_t in[PIECE], out[PIECE];
};

/* The baseline: ISA-L inflates the file in pieces into one buffer. The CRC of the content is
 * optional, because the library computes it as well. */
uint64_t inflate_file(const char *path, uint64_t size_max, bool with_crc) {
    struct bare_inflater *bare = must_have(malloc(sizeof *bare));
    struct inflate_state *state = &bare->state;
    uint64_t size = 0;
    FILE *file = must_have(fopen(path, "rb"));
    isal_inflate_init(state);
    state->crc_flag = ISAL_GZIP;
    while (state->block_state != ISAL_BLOCK_FINISH && size < size_max) {
        if (!state->avail_in) {
            state->next_in = bare->in;
            state->avail_in = (uint32_t)fread(bare->in, 1, PIECE, file);
        }
        uint32_t room = (uint32_t)min_u64(PIECE, size_max - size);
        state->next_out = bare->out;
        state->avail_out = room;
        if (isal_inflate(state) != ISAL_DECOMP_OK) exit(3);
        if (with_crc) crc_sum += crc32c(bare->out, room - state->avail_out);
        size += room - state->avail_out;
    }
    fclose(file);
    free(bare);
    return size;
}

/* The shards of a set, taken by the threads one after another. */
struct inflate_pass {
    recmap_shards *shards;
    atomic_size_t next;
    atomic_ullong size;
};

static void *run_inflate(void *context) {
    struct inflate_pass *pass = context;
    size_t i;
    while ((i = pass->next++) < recmap_shards_count(pass->shards))
        pass->size += inflate_file(recmap_shards_path(pass->shards, i), UINT64_MAX, true);
    return NULL;
}

uint64_t inflate_set(const char *folder, const char *set, unsigned thread_count) {
    struct inflate_pass pass = {.next = 0};
    if (!set_find(&pass.shards, folder, set)) exit(2);
    if (thread_count > 1) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct worker_group workers = WORKER_GROUP_INIT;
        must(workers_start(&workers, thread_count, run_inflate, &pass, &error), &error);
        workers_join(&workers);
    } else {
        run_inflate(&pass);
    }
    recmap_shards_destroy(pass.shards);
    return pass.size;
}
