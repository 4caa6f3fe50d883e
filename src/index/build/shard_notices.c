#include "index/build/shard_notices.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/plural.h"
#include "base/words/cut_file.h"
#include "format/shards/set_name.h"

void shard_notices_begin(struct shard_notices *notices, const char *path,
                         const struct framing *framing) {
    notices->path = path;
    notices->framing = framing;
    notices->last_key[0] = 0;
    notices->has_records = notices->has_damage = false;
}

void shard_notices_add(struct shard_notices *notices, const struct record_run *run,
                       uint64_t first) {
    if (!run->count) return;
    size_t last = run->count - 1;
    notices->has_records = true;
    notices->last_number = first + last;
    notices->last_offset = run->offsets[last];
    notices->last_end = run->offsets[last] + run->sizes[last];
    if (run->key_count)
        snprintf(notices->last_key, sizeof notices->last_key, "%.199s", run_key_at(run, last).text);
}

void shard_notices_add_damage(struct shard_notices *notices) {
    notices->has_damage = true;
}

/* A file of 0 bytes is a shard like any other unless it is one of a set. Bytes without a record,
 * such as the zeros of an archive without files, are not what a writer meant. */
static void notice_empty(struct shard_notices *notices, const struct shard_end *end) {
    struct set_member member;
    bool is_member = set_member_parse(&member, notices->path);
    if ((!is_member && !end->size) || notices->empty_count++) return;
    snprintf(notices->empty, sizeof notices->empty,
             "%.800s: the shard%s %s (%" PRIu64 " byte%s); check that it was written",
             notices->path, is_member ? " of a set" : "",
             end->file_size ? "has no records" : "is empty", end->file_size,
             plural(end->file_size));
}

static void notice_open(struct shard_notices *notices) {
    char sample[256] = "";
    if (notices->open_count++) return;
    if (notices->last_key[0])
        snprintf(sample, sizeof sample, ", so the sample \"%s\" may be incomplete",
                 notices->last_key);
    snprintf(notices->open, sizeof notices->open,
             "%.500s: record %" PRIu64 " at byte %" PRIu64
             ": %s after the last record%s" FILE_IS_CUT,
             notices->path, notices->last_number, notices->last_offset,
             notices->framing->missing_end, sample);
}

void shard_notices_end(struct shard_notices *notices, const struct shard_end *end) {
    if (!notices->has_records && !notices->has_damage) notice_empty(notices, end);
    else if (notices->framing->missing_end && notices->has_records &&
             notices->last_end == end->size)
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
