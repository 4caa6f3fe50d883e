#include "indexing/build_report.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "terminal/message.h"

void build_report_empty(const char *path, const recmap_index_summary *summary) {
    if (summary->record_count || !summary->shard_count || summary->damage_count) return;
    const char *what = summary->byte_count ? "without records" : "empty (0 bytes)";
    if (summary->shard_count == 1)
        message("%s: the index has no records: its shard is %s; check that it was written", path,
                what);
    else
        message("%s: the index has no records: its %" PRIu64
                " shards are %s; check that they were written",
                path, summary->shard_count, what);
}

/* Rates cover only what was scanned: reused records would make them look better than they are. */
void build_report(const char *path, const recmap_index_summary *summary, struct build_reused reused,
                  bool has_ids, const struct progress_bar *progress) {
    struct stat index;
    double index_size = stat(path, &index) ? 0 : (double)index.st_size;
    double seconds = progress_now() - progress->started;
    uint64_t bytes = summary->byte_count - reused.byte_count;
    uint64_t records = summary->record_count - reused.record_count;
    double rate = seconds > 0 ? 1 / seconds : 0;
    char all[HUMAN_SIZE], size[HUMAN_SIZE], speed[HUMAN_SIZE];
    message("%s: %" PRIu64 " record%s in %" PRIu64
            " shard%s, %s; index %s, %.2f bytes per record; %.2f s, %s/s, "
            "%.0f records/s",
            path, summary->record_count, plural(summary->record_count), summary->shard_count,
            plural(summary->shard_count), human_bytes(all, (double)summary->byte_count),
            human_bytes(size, index_size),
            summary->record_count ? index_size / (double)summary->record_count : 0, seconds,
            human_bytes(speed, (double)bytes * rate), (double)records * rate);
    build_report_empty(path, summary);
    uint64_t without_id = summary->record_count - summary->id_count;
    if (has_ids && without_id && !summary->id_count)
        message("no record has an id; 'recmap schema %s' lists the features that --id can name",
                path);
    else if (has_ids && without_id)
        message("%" PRIu64 " record%s without an id", without_id, plural(without_id));
    if (summary->repeated_id_count)
        message("%" PRIu64 " appended record%s the id of a record that the index had; if the "
                "shards are of an older or newer set of the same records, index the set again",
                summary->repeated_id_count, summary->repeated_id_count == 1 ? " has" : "s have");
    if (summary->damage_count)
        message("%" PRIu64 " damaged place%s skipped, %" PRIu64
                " byte%s; 'recmap info %s' lists them",
                summary->damage_count, plural(summary->damage_count), summary->damaged_byte_count,
                plural(summary->damaged_byte_count), path);
    if (summary->repeated[0]) message("%s", summary->repeated);
    if (summary->empty_shard[0]) message("%s", summary->empty_shard);
    if (summary->open_shard[0]) message("%s", summary->open_shard);
}
