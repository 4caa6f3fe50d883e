#include "index/scan/side_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"
#include "base/core/redact.h"
#include "base/os/file.h"
#include "format/shards/shard_bytes.h"

enum { RUN_RECORDS = 1 << 14 };

/* A mapped file. */
struct mapped_file {
    char *path;
    struct file_stat stat;
    struct shard_bytes bytes;
};

/* A text index and its shard, read in parallel. */
struct side_index {
    struct mapped_file text, shard;
    const struct framing *framing;
    const struct scan_sink *sink;
    const struct scan_options *options;
    struct record_run run;
    uint64_t line; /* the first is 1 */
    uint64_t text_position;
    uint64_t position; /* in the shard: the next record must begin here */
};

/* A text index has offsets in an uncompressed shard. */
static recmap_status check_plain(struct source *source, const char *path, recmap_error *error) {
    enum compression kind;
    RETURN_IF_FAILED(shard_bytes_detect(&kind, source, error));
    if (kind == COMPRESSION_NONE) return RECMAP_OK;
    fail(error, RECMAP_UNSUPPORTED,
         "the shard is compressed with %s; a text index has offsets of uncompressed shards only",
         compression_name(kind));
    fail_file(error, path);
    fail_advise(error, "index it without --from-idx");
    return RECMAP_UNSUPPORTED;
}

/* Opens and maps the text index or the shard. */
static recmap_status open_mapped(struct mapped_file *mapping, bool must_be_plain,
                                 recmap_error *error) {
    int fd = -1;
    struct source *source = NULL;
    RETURN_IF_FAILED(file_open(&fd, mapping->path, error));
    RETURN_IF_FAILED(source_open_file(&source, fd, mapping->path, error));
    mapping->stat = source->stat;
    recmap_status status = must_be_plain ? check_plain(source, mapping->path, error) : RECMAP_OK;
    if (status == RECMAP_OK)
        status = shard_bytes_open_or_read(&mapping->bytes, source->fd, mapping->stat.size,
                                          mapping->path, error);
    source_close(source);
    return status;
}

static void close_mapped(struct mapped_file *mapping) {
    shard_bytes_close(&mapping->bytes);
    free(mapping->path);
}

/* Looks for FOLDER/NAME.idx, where NAME is the first `size` bytes of `name`. If there is no such
 * file, `path` is unchanged. */
static recmap_status look_for(char **path, const char *folder, const char *name, size_t size,
                              recmap_error *error) {
    size_t room = size + sizeof ".idx";
    char *file = malloc(room);
    if (!file) return fail_memory(error);
    snprintf(file, room, "%.*s.idx", (int)size, name);
    char *candidate = path_join(folder, file);
    free(file);
    if (!candidate) return fail_memory(error);
    struct file_stat stat;
    bool is_there;
    recmap_status status = file_find_stat(&stat, &is_there, candidate, error);
    if (status == RECMAP_OK && is_there) *path = candidate;
    else free(candidate);
    return status;
}

static recmap_status find_text(char **path, const char *folder, const char *shard_path,
                               recmap_error *error) {
    const char *name = path_name(shard_path), *dot = strrchr(name, '.');
    *path = NULL;
    RETURN_IF_FAILED(look_for(path, folder, name, strlen(name), error));
    if (!*path && dot && dot > name)
        RETURN_IF_FAILED(look_for(path, folder, name, (size_t)(dot - name), error));
    if (*path) return RECMAP_OK;
    char folder_name[512];
    redact_url(folder_name, sizeof folder_name, folder);
    fail(error, RECMAP_INVALID, "the shard has no text index in the folder %s", folder_name);
    fail_file(error, shard_path);
    fail_advise(error, "expected %s.idx there; to scan the shard instead, omit --from-idx", name);
    return RECMAP_INVALID;
}

/* The error for a line: `what` is wrong with it. */
static recmap_status fail_line(const struct side_index *side, recmap_error *error,
                               const char *what) {
    fail(error, RECMAP_MISMATCH, "line %" PRIu64 ": %s", side->line, what);
    fail_file(error, side->text.path);
    fail_advise(error,
                "the text index is damaged or belongs to another file: make it again, or index "
                "without --from-idx");
    return RECMAP_MISMATCH;
}

static bool read_number(uint64_t *number, struct side_index *side) {
    const uint8_t *text = side->text.bytes.data;
    uint64_t first = side->text_position, value = 0;
    for (; side->text_position < side->text.bytes.size; side->text_position++) {
        unsigned digit = (unsigned)text[side->text_position] - '0';
        if (digit > 9) break;
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *number = value;
    return side->text_position > first;
}

static bool skip_bytes(struct side_index *side, const char *bytes) {
    uint64_t first = side->text_position;
    while (side->text_position < side->text.bytes.size &&
           side->text.bytes.data[side->text_position] &&
           strchr(bytes, side->text.bytes.data[side->text_position]))
        side->text_position++;
    return side->text_position > first;
}

/* Reads one line, `OFFSET SIZE`; the last one need not end with LF. False if it is something else.
 */
static bool read_line(uint64_t *offset, uint64_t *size, struct side_index *side) {
    if (!read_number(offset, side) || !skip_bytes(side, " \t") || !read_number(size, side))
        return false;
    skip_bytes(side, " \t\r");
    if (side->text_position == side->text.bytes.size) return true;
    return side->text.bytes.data[side->text_position++] == '\n';
}

/* Checks a line against the shard: its record must begin where the previous one ended, and the
 * frame there must have the stated size. */
static recmap_status check_record(struct frame *frame, struct side_index *side, uint64_t offset,
                                  uint64_t size, uint64_t end, recmap_error *error) {
    char what[512];
    struct frame_fault fault = {"the file ends"};
    const char *shard = side->shard.path;
    if (offset != side->position) {
        snprintf(what, sizeof what,
                 "it has a record at byte %" PRIu64
                 ", but in %.256s the next one begins at byte %" PRIu64,
                 offset, path_name(shard), side->position);
        return fail_line(side, error, what);
    }
    enum frame_verdict verdict = FRAME_AT_END;
    if (offset < end)
        verdict = side->framing->parse(frame, side->framing, side->shard.bytes.data + offset,
                                       end - offset, FRAME_CHECK_STORED, &fault);
    if (verdict == FRAME_GOOD && frame->size == size) return RECMAP_OK;
    if (verdict == FRAME_GOOD)
        snprintf(what, sizeof what,
                 "the record at byte %" PRIu64 " of %.256s has %" PRIu64 " byte%s, not %" PRIu64,
                 offset, path_name(shard), frame->size, plural(frame->size), size);
    else
        snprintf(what, sizeof what, "no record is at byte %" PRIu64 " of %.256s: %s", offset,
                 path_name(shard), fault.reason);
    return fail_line(side, error, what);
}

static recmap_status report_progress(const struct scan_options *options, recmap_error *error) {
    if (!options->progress) return RECMAP_OK;
    struct interrupt former = thread_interrupt_clear();
    int must_stop = options->progress(options->totals, options->progress_context);
    thread_interrupt_restore(&former);
    return must_stop ? fail(error, RECMAP_CANCELLED, "cancelled; nothing was written") : RECMAP_OK;
}

/* Passes the collected records to the sink and reports progress. Before that, both files must
 * still be whole: the records may otherwise come from zeros that replace missing pages. */
static recmap_status flush_run(struct side_index *side, recmap_error *error) {
    recmap_progress *progress = side->options->totals;
    if (shard_bytes_was_cut(&side->text.bytes) || shard_bytes_was_cut(&side->shard.bytes)) {
        fail(error, RECMAP_IO, "the file was cut short while it was being read");
        fail_file(error, side->shard.path);
        return RECMAP_IO;
    }
    recmap_status status = side->sink->add_run(side->sink->context, &side->run, error);
    if (status != RECMAP_OK) {
        if (error && !error->path[0]) fail_file(error, side->shard.path);
        return status;
    }
    progress->record_count += side->run.count;
    progress->path = side->shard.path;
    run_clear(&side->run);
    return report_progress(side->options, error);
}

static recmap_status add_record(struct side_index *side, const struct frame *frame,
                                recmap_error *error) {
    uint64_t offset = side->position;
    if (!run_add(&side->run, offset, frame->data_size, frame->check)) return fail_memory(error);
    recmap_status status = extractor_lift(side->options->extractor, &side->run,
                                          side->shard.bytes.data + offset + frame->data_offset,
                                          (size_t)frame->data_size, error);
    if (status != RECMAP_OK) {
        fail_at(error, side->shard.path, side->options->totals->record_count + side->run.count - 1,
                offset);
        return status;
    }
    side->position += frame->size;
    side->options->totals->bytes_done += frame->size;
    return side->run.count == RUN_RECORDS ? flush_run(side, error) : RECMAP_OK;
}

/* Checks that the shard has no record after the last line. */
static recmap_status check_end(struct side_index *side, uint64_t end, recmap_error *error) {
    struct frame frame;
    if (side->position >= end ||
        side->framing->parse(&frame, side->framing, side->shard.bytes.data + side->position,
                             end - side->position, FRAME_CHECK_HEADER, NULL) == FRAME_AT_END)
        return RECMAP_OK;
    char what[512];
    snprintf(what, sizeof what, "it is missing: %.256s continues at byte %" PRIu64,
             path_name(side->shard.path), side->position);
    return fail_line(side, error, what);
}

/* Moves past the header of the shard. A file without room for it is damaged, as for a scan. */
static recmap_status skip_header(struct side_index *side, recmap_error *error) {
    uint64_t header = side->framing->file_header_size, footer = side->framing->file_footer_size;
    uint64_t size = side->shard.bytes.size;
    side->position = header;
    if (bytes_fit(header, footer, size)) return RECMAP_OK;
    fail(error, RECMAP_CORRUPT,
         "the file has %" PRIu64 " byte%s, less than its header of %" PRIu64
         " and its footer of %" PRIu64,
         size, plural(size), header, footer);
    fail_at(error, side->shard.path, side->options->totals->record_count, 0);
    fail_advise(error, "restore the file, or leave it out");
    return RECMAP_CORRUPT;
}

static recmap_status read_lines(struct side_index *side, recmap_error *error) {
    uint64_t size = side->shard.bytes.size, footer = side->framing->file_footer_size;
    uint64_t end = footer < size ? size - footer : 0;
    RETURN_IF_FAILED(skip_header(side, error));
    for (side->line = 1; side->text_position < side->text.bytes.size; side->line++) {
        struct frame frame;
        uint64_t offset, frame_size;
        if (!read_line(&offset, &frame_size, side))
            return fail_line(side, error, "it is not `OFFSET SIZE` in decimal numbers");
        RETURN_IF_FAILED(check_record(&frame, side, offset, frame_size, end, error));
        RETURN_IF_FAILED(add_record(side, &frame, error));
    }
    RETURN_IF_FAILED(check_end(side, end, error));
    return flush_run(side, error);
}

static recmap_status end_shard(const struct side_index *side, recmap_error *error) {
    const struct mapped_file *shard = &side->shard;
    struct file_stat now;
    if (!file_stat_path(&now, shard->path) || !file_is_unchanged(&now, &shard->stat)) {
        fail(error, RECMAP_STALE, "the file changed while it was being indexed");
        fail_file(error, shard->path);
        return RECMAP_STALE;
    }
    struct shard_end end = {.stat = shard->stat,
                            .file_size = shard->stat.size,
                            .size = shard->stat.size,
                            .compression = COMPRESSION_NONE,
                            .mtime_ns = shard->stat.mtime_ns,
                            .etag = "",
                            .tail_size = shard->stat.size - side->position};
    return side->sink->end_shard(side->sink->context, &end, error);
}

static recmap_status scan_side(struct side_index *side, const char *folder, recmap_error *error) {
    const struct scan_sink *sink = side->sink;
    RETURN_IF_FAILED(find_text(&side->text.path, folder, side->shard.path, error));
    RETURN_IF_FAILED(open_mapped(&side->shard, true, error));
    RETURN_IF_FAILED(open_mapped(&side->text, false, error));
    side->options->totals->bytes_total += side->shard.stat.size;
    RETURN_IF_FAILED(sink->begin_shard(sink->context, side->shard.path, error));
    RETURN_IF_FAILED(read_lines(side, error));
    return end_shard(side, error);
}

/* Reads the text index and the shard in parallel, from the first line and record to the last, and
 * reports to the sink like a scan of a single shard. */
recmap_status side_index_scan(const char *folder, const char *path, const struct scan_sink *sink,
                              const struct scan_options *options, recmap_error *error) {
    struct side_index side = {
        .shard = {.path = strdup(path), .bytes = SHARD_BYTES_INIT},
        .text = {.bytes = SHARD_BYTES_INIT},
        .framing = options->form.framing,
        .sink = sink,
        .options = options,
    };
    bool has_room = run_init(&side.run, extractor_has_ids(options->extractor),
                             extractor_column_count(options->extractor),
                             extractor_counted_count(options->extractor)) &&
                    side.shard.path;
    recmap_status status = has_room ? scan_side(&side, folder, error) : fail_memory(error);
    run_deinit(&side.run);
    close_mapped(&side.text);
    close_mapped(&side.shard);
    return status;
}
