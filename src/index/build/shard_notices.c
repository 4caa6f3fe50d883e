#include "index/build/shard_notices.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/shards/set_name.h"

void shard_notices_begin(struct shard_notices *notices, const char *path,
                         const struct framing *framing) {
    notices->path = path;
    notices->framing = framing;
    notices->last_end = 0;
}

void shard_notices_add(struct shard_notices *notices, const struct record_run *run,
                       uint64_t first) {
    if (!run->count) return;
    size_t last = run->count - 1;
    notices->last_number = first + last;
    notices->last_offset = run->offsets[last];
    notices->last_end = run->offsets[last] + run->sizes[last];
}

static void notice_empty(struct shard_notices *notices) {
    struct set_member member;
    if (!set_member_parse(&member, notices->path) || notices->empty_count++) return;
    snprintf(notices->empty, sizeof notices->empty,
             "%.800s: the shard of a set is empty (0 bytes); check that it was written",
             notices->path);
}

static void notice_open(struct shard_notices *notices) {
    if (notices->open_count++) return;
    snprintf(notices->open, sizeof notices->open,
             "%.600s: record %" PRIu64 " at byte %" PRIu64 ": %s after the last record" FILE_IS_CUT,
             notices->path, notices->last_number, notices->last_offset,
             notices->framing->missing_end);
}

/* A file of 0 bytes is damaged if its name says that it is compressed, and a shard like any other
 * if not. */
void shard_notices_end(struct shard_notices *notices, const struct shard_end *end) {
    if (!end->file_size) notice_empty(notices);
    else if (notices->framing->missing_end && notices->last_end && notices->last_end == end->size)
        notice_open(notices);
}

static void write_notice(char *text, const char *first, uint64_t count) {
    char others[64] = "";
    if (count > 1)
        snprintf(others, sizeof others, " (and %" PRIu64 " more such shard%s)", count - 1,
                 count == 2 ? "" : "s");
    snprintf(text, RECMAP_NOTICE_SIZE, "%.900s%s", first, others);
}

/* If there are no records at all, callers say that all shards are empty. */
void shard_notices_report(recmap_index_summary *summary, const struct shard_notices *notices) {
    bool has_content = summary->record_count || summary->damage_count;
    summary->empty_shard_count = notices->empty_count;
    summary->open_shard_count = notices->open_count;
    summary->empty_shard[0] = 0;
    if (has_content) write_notice(summary->empty_shard, notices->empty, notices->empty_count);
    write_notice(summary->open_shard, notices->open, notices->open_count);
}
