/* Joining: the segments that workers scanned, in order, made into the result of one scan from the
 * first byte to the last. segments.h describes the workers' side. */
#include "index/scan/scan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/process.h"
#include "format/framing/tfrecord.h"
#include "index/scan/confirm.h"
#include "index/scan/segments.h"

enum {
    CERTAIN_SIZE = 64, /* a file of fewer bytes may look like another kind of file by chance */
    PROGRESS_NS = 50 * 1000 * 1000,
    OPEN_WORK = 16 << 10, /* for the interrupt, in bytes: opening a shard */
    DAMAGE_WORK = 1024,   /* adding damage to the index, or searching for it there */
};

struct scan {
    const struct scan_options *options;
    const struct scan_sink *sink;
    struct scan_shard *shards;
    size_t shard_count;
    recmap_progress *progress;
    uint64_t progress_at_ns;
    struct segment_ring segments;
};

/* Less would not hold what is inflated at once. */
#define MEMORY_LIMIT_MIN ((uint64_t)1 << 20)

recmap_status scan_check_memory_limit(uint64_t limit, recmap_error *error) {
    if (!limit || limit >= MEMORY_LIMIT_MIN) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "the memory limit is %" PRIu64 " bytes; the minimum is %" PRIu64, limit,
                MEMORY_LIMIT_MIN);
}

static recmap_status report_progress(struct scan *scan, recmap_error *error) {
    const struct scan_options *options = scan->options;
    uint64_t now = clock_ns();
    if (!options->progress) return interrupt_check(thread_interrupt(), INTERRUPT_WORK, error);
    if (now - scan->progress_at_ns < PROGRESS_NS) return RECMAP_OK;
    scan->progress_at_ns = now;
    struct interrupt former = thread_interrupt_clear();
    int must_stop = options->progress(scan->progress, options->progress_context);
    thread_interrupt_restore(&former);
    if (!must_stop) return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "cancelled; nothing was written");
}

/* The interrupt function of the calling thread, while it opens shards or reads them itself. */
static int ask_progress(void *context) {
    return report_progress(context, NULL) != RECMAP_OK;
}

static recmap_status next_segment(struct scan *scan, struct segment **segment,
                                  recmap_error *error) {
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK && !segments_next(&scan->segments, segment, PROGRESS_NS))
        status = report_progress(scan, error);
    return status;
}

static recmap_status fail_kind(const struct scan_shard *shard, const struct file_kind *kind,
                               recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "is not %s: it is %s", scan_shard_due_kind(shard), kind->name);
    fail_at(error, shard->path, RECMAP_NO_RECORD, 0);
    fail_advise(error, "%s", kind->advice);
    return RECMAP_CORRUPT;
}

/* The error of a scan that stopped, with its place. If it stopped at the first byte, or if any
 * bytes are records, the file may be of another kind, and the advice says so. */
static recmap_status fail_scan(const struct scan *scan, const struct scan_shard *shard,
                               const struct scan_findings *findings, recmap_error *error) {
    if (!error) return findings->status;
    *error = findings->error;
    fail_at(error, shard->path, scan->progress->record_count, findings->stopped_at);
    if (findings->status != RECMAP_CORRUPT) return findings->status;
    bool is_start = !findings->stopped_at || scan_shard_takes_any_bytes(shard);
    const struct file_kind *kind = is_start ? scan_shard_other_kind(shard) : NULL;
    if (kind) return fail_kind(shard, kind, error);
    bool may_be_other = !findings->stopped_at && framing_is_tfrecord(shard->framing);
    fail_advise(error,
                "restore the file, or index with `--on-bad-record skip` to number the good records "
                "and list the damage%s",
                may_be_other ? "; a file of another kind needs --framing" : "");
    return RECMAP_CORRUPT;
}

static recmap_status add_damage(struct scan *scan, uint64_t offset, uint64_t length,
                                const char *reason, recmap_error *error) {
    return scan->sink->add_damage(scan->sink->context, offset, length, reason, error);
}

static recmap_status take_findings(struct scan *scan, const struct scan_shard *shard,
                                   const struct scan_findings *findings, recmap_error *error) {
    RETURN_IF_FAILED(scan_shard_check_whole(shard, error));
    recmap_status status = scan->sink->add_run(scan->sink->context, &findings->run, error);
    if (status != RECMAP_OK && error && !error->path[0]) fail_file(error, shard->path);
    RETURN_IF_FAILED(status);
    for (size_t i = 0; i < findings->damage_count; i++) {
        const struct scan_damage *damage = &findings->damages[i];
        RETURN_IF_FAILED(add_damage(scan, damage->offset, damage->length, damage->reason, error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), DAMAGE_WORK, error));
    }
    scan->progress->record_count += findings->run.count;
    return findings->status == RECMAP_OK ? RECMAP_OK : fail_scan(scan, shard, findings, error);
}

/* Returns true if the worker's scan of the segment is the one that continues from `cursor`. Either
 * both are at the same frame. Or the cursor is lost at the segment's beginning: then it would
 * search for the first good frame from there, and that is what the worker's guess found. (If a
 * framing searches in another way than it guesses, or cannot search, that guess does not count.)
 * The worker does not know of frames that must be single lines. */
static bool guess_is_right(const struct scan_shard *shard, const struct segment *segment,
                           const struct scan_cursor *cursor) {
    if (!segment->is_scanned || cursor->position < cursor->lines_until) return false;
    if (!cursor->is_lost) return cursor->position == segment->entry;
    return cursor->position == segment->begin && shard->framing->find &&
           shard->framing->find == shard->framing->guess;
}

/* Returns true if the shard could not be opened and the sink skips such shards: its segments are
 * empty. */
static bool is_skipped(const struct scan *scan, const struct scan_shard *shard) {
    return shard->state == SHARD_FAILED && shard->status != RECMAP_CANCELLED &&
           scan->sink->skip_shard;
}

/* The thread that failed did not know how many records precede the shard. */
static void copy_error(recmap_error *error, const struct scan *scan,
                       const struct scan_shard *shard) {
    scan_shard_copy_error(error, shard);
    if (error->record != RECMAP_NO_RECORD) error->record += scan->progress->record_count;
}

/* A shard that is skipped is reported to the sink, not to the caller. */
static recmap_status copy_status(const struct scan *scan, const struct scan_shard *shard,
                                 recmap_error *error) {
    if (error && !is_skipped(scan, shard)) copy_error(error, scan, shard);
    return shard->status;
}

/* Confirms damage before it is handed out. If the bytes cannot be trusted, the shard fails. */
static recmap_status confirm(struct scan *scan, struct segment *segment,
                             const struct scan_cursor *first, struct scan_cursor *cursor,
                             recmap_error *error) {
    struct scan_shard *shard = &scan->shards[segment->shard_index];
    recmap_error local = RECMAP_ERROR_INIT;
    if (!findings_have_damage(&segment->findings, cursor)) return RECMAP_OK;
    recmap_status status = confirm_segment(&segment->findings, cursor, shard, scan->options, first,
                                           segment->begin, segment->end, &local);
    if (status == RECMAP_OK) return RECMAP_OK;
    segments_fail_shard(&scan->segments, shard, status, &local);
    return copy_status(scan, shard, error);
}

/* Scans a segment from where the previous one ended. */
static recmap_status scan_here(struct scan *scan, struct segment *segment,
                               struct scan_cursor *cursor, recmap_error *error) {
    const struct scan_shard *shard = &scan->shards[segment->shard_index];
    struct scanner scanner = scan_shard_scanner(shard, scan->options);
    const struct scan_cursor first = *cursor;
    scan_from(&scanner, &segment->findings, cursor, shard->bytes.data, shard->bytes.size,
              segment->end);
    RETURN_IF_FAILED(confirm(scan, segment, &first, cursor, error));
    return take_findings(scan, shard, &segment->findings, error);
}

/* Adds what was found in a remote shard since the last call. */
static recmap_status join_remote(struct scan *scan, struct segment *segment,
                                 struct scan_cursor *cursor, recmap_error *error) {
    const struct scan_shard *shard = &scan->shards[segment->shard_index];
    if (!segment->is_scanned && !segments_scan_remote(&scan->segments, segment))
        return copy_status(scan, shard, error);
    *cursor = segment->cursor;
    return take_findings(scan, shard, &segment->findings, error);
}

/* Adds one segment to the result. `cursor` is where the previous segment ended. If the worker's
 * guess was wrong, its findings are discarded and the segment is scanned again. */
static recmap_status join_segment(struct scan *scan, struct segment *segment,
                                  struct scan_cursor *cursor, recmap_error *error) {
    struct scan_shard *shard = &scan->shards[segment->shard_index];
    bool is_plain = shard->compression == COMPRESSION_NONE;
    if (!segments_open_shard(&scan->segments, segment)) return copy_status(scan, shard, error);
    if (is_plain && shard->is_streamed) return join_remote(scan, segment, cursor, error);
    /* A record of an earlier segment may extend past the end of this one. */
    if (is_plain && !cursor->is_lost && cursor->position >= segment->end && segment->end > 0)
        return RECMAP_OK;
    bool is_doubtful = is_plain && findings_have_damage(&segment->findings, &segment->cursor);
    if (!guess_is_right(shard, segment, cursor) || is_doubtful)
        return scan_here(scan, segment, cursor, error);
    recmap_status status = RECMAP_OK;
    if (cursor->is_lost)
        status = add_damage(scan, cursor->lost_since, segment->entry - cursor->lost_since,
                            cursor->reason, error);
    *cursor = segment->cursor;
    return status == RECMAP_OK ? take_findings(scan, shard, &segment->findings, error) : status;
}

/* Joins all segments of a shard. `end_of_records` is where the last record or damage ends. */
static recmap_status join_segments(uint64_t *end_of_records, struct scan *scan,
                                   struct scan_shard *shard, recmap_error *error) {
    struct scan_cursor cursor = {.position = shard->start};
    recmap_status status = RECMAP_OK;
    scan->progress->path = shard->path;
    for (bool is_last = false; status == RECMAP_OK && !is_last;) {
        struct segment *segment;
        status = next_segment(scan, &segment, error);
        if (status != RECMAP_OK) break;
        status = join_segment(scan, segment, &cursor, error);
        if (status != RECMAP_OK && is_skipped(scan, shard)) status = RECMAP_OK;
        if (status != RECMAP_OK) break;
        is_last = segment->is_last && !segment->has_more;
        uint64_t end = segment->has_more ? segment->piece_end : segment->end;
        scan->progress->bytes_done += end - segment->begin;
        if (segment->has_more) segments_resume(&scan->segments);
        else segments_release(&scan->segments);
        status = report_progress(scan, error);
    }
    *end_of_records = cursor.position;
    return status;
}

/* SKIP is for damaged shards. A file without a single record that is known to be something else was
 * named by mistake. So was one of another kind whose framing takes any bytes as records. */
static recmap_status check_is_shard(const struct scan *scan, const struct scan_shard *shard,
                                    uint64_t record_count, recmap_error *error) {
    bool is_certain = record_count && !scan_shard_takes_any_bytes(shard);
    if (is_certain || scan_shard_size(shard) < CERTAIN_SIZE || !scan->options->refuses_others)
        return RECMAP_OK;
    const struct file_kind *kind = scan_shard_other_kind(shard);
    return kind ? fail_kind(shard, kind, error) : RECMAP_OK;
}

static recmap_status end_shard(struct scan *scan, struct scan_shard *shard, uint64_t end_of_records,
                               recmap_error *error) {
    uint64_t size = scan_shard_size(shard);
    struct shard_end end = {.stat = shard->stat,
                            .file_size = shard->end,
                            .start = shard->start,
                            .size = size,
                            .compression = shard->compression,
                            .mtime_ns = shard->stat.mtime_ns,
                            .etag = shard->etag,
                            .tail_size = size - end_of_records,
                            .points = &shard->inflated.points};
    recmap_status status = scan->sink->end_shard(scan->sink->context, &end, error);
    scan_shard_close(shard);
    return status;
}

static recmap_status skip_shard(const struct scan *scan, const struct scan_shard *shard,
                                recmap_error *error) {
    recmap_error cause;
    scan_shard_copy_error(&cause, shard);
    return scan->sink->skip_shard(scan->sink->context, &cause, error);
}

static recmap_status join_shard(struct scan *scan, struct scan_shard *shard, recmap_error *error) {
    uint64_t first_record = scan->progress->record_count, end_of_records = 0;
    RETURN_IF_FAILED(scan->sink->begin_shard(scan->sink->context, shard->path, error));
    RETURN_IF_FAILED(join_segments(&end_of_records, scan, shard, error));
    if (is_skipped(scan, shard)) return skip_shard(scan, shard, error);
    RETURN_IF_FAILED(
        check_is_shard(scan, shard, scan->progress->record_count - first_record, error));
    RETURN_IF_FAILED(scan_shard_check_unchanged(shard, scan->options, error));
    return end_shard(scan, shard, end_of_records, error);
}

static recmap_status detect_shards(struct scan *scan, const char *const *paths,
                                   recmap_error *error) {
    for (size_t i = 0; i < scan->shard_count; i++) {
        struct scan_shard *shard = &scan->shards[i];
        scan_shard_detect(shard, paths[i], i, scan->options);
        if (shard->status != RECMAP_OK && !is_skipped(scan, shard)) {
            if (error) scan_shard_copy_error(error, shard);
            return shard->status;
        }
        scan->progress->bytes_total += shard->end - shard->start;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), OPEN_WORK, error));
    }
    return RECMAP_OK;
}

/* All shards are detected before any is scanned, so that missing files are reported early and the
 * size of all is known. After an error the ring's workers are stopped before the shards that they
 * use are freed. */
recmap_status scan_shards(const char *const *paths, size_t path_count, const struct scan_sink *sink,
                          const struct scan_options *options, recmap_error *error) {
    struct scan scan = {
        .options = options,
        .sink = sink,
        .shards = calloc(path_count + 1, sizeof *scan.shards),
        .shard_count = path_count,
        .progress = options->totals,
    };
    if (!scan.shards) return fail_memory(error);
    struct interrupt former =
        thread_interrupt_replace(options->progress ? ask_progress : NULL, &scan);
    recmap_status status = detect_shards(&scan, paths, error);
    if (status == RECMAP_OK) {
        status = segments_init(&scan.segments, scan.shards, path_count, options, error);
        for (size_t i = 0; status == RECMAP_OK && i < path_count; i++)
            status = join_shard(&scan, &scan.shards[i], error);
        segments_deinit(&scan.segments);
    }
    thread_interrupt_restore(&former);
    for (size_t i = 0; i < path_count; i++) {
        scan_shard_close(&scan.shards[i]);
        scan_shard_free_error(&scan.shards[i]);
    }
    free(scan.shards);
    return status;
}
