#include "index/scan/scan_shard.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/read_again.h"
#include "format/framing/csv.h"
#include "format/framing/tfrecord.h"
#include "index/scan/remote_scan.h"

enum {
    COPY_PIECE = 16 << 20,   /* of the copy of a remote shard: bytes that are scanned at once */
    INFLATE_AHEAD = 8 << 20, /* of a compressed remote shard: bytes that are requested together */
    CHECK_FACTOR = 1000003,  /* odd, so that the order of the bytes counts */
};

static recmap_status fail_changed(const struct scan_shard *shard, recmap_error *error) {
    fail(error, RECMAP_STALE, "the file changed while it was being indexed");
    fail_file(error, shard->path);
    fail_advise(error, "index it again when nothing writes to it any more");
    return RECMAP_STALE;
}

static recmap_status open_source(struct source **source, const struct scan_shard *shard,
                                 const struct remote_identity *expected,
                                 const struct scan_options *options, recmap_error *error) {
    if (options->open)
        return options->open(source, options->open_context, shard->index, shard->path, expected,
                             error);
    return shard_source_open(source, shard->path, options->storage, expected, error);
}

/* Opens the shard again and checks that it is the one that was detected. */
static recmap_status open_detected(struct source **source, const struct scan_shard *shard,
                                   const struct scan_options *options, recmap_error *error) {
    struct remote_identity detected = {shard->stat.size, shard->stat.mtime_ns, shard->etag};
    RETURN_IF_FAILED(open_source(source, shard, &detected, options, error));
    if (file_is_unchanged(&(*source)->stat, &shard->stat)) {
        (*source)->stat.size = shard->end;
        return RECMAP_OK;
    }
    source_close(*source);
    *source = NULL;
    return fail_changed(shard, error);
}

recmap_status scan_shard_open_again(struct source **source, const struct scan_shard *shard,
                                    const struct scan_options *options, recmap_error *error) {
    return open_detected(source, shard, options, error);
}

/* The compression that a file without bytes should have: an empty file is not a GZIP or ZLIB
 * stream, so one of that name is damaged. */
static enum compression compression_of_name(const char *path) {
    static const struct {
        const char *end;
        enum compression kind;
    } ends[] = {{".gz", COMPRESSION_GZIP},
                {".gzip", COMPRESSION_GZIP},
                {".tgz", COMPRESSION_GZIP},
                {".zz", COMPRESSION_ZLIB},
                {".zlib", COMPRESSION_ZLIB}};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end_size = strlen(ends[i].end);
        if (size > end_size && !strcmp(path + size - end_size, ends[i].end)) return ends[i].kind;
    }
    return COMPRESSION_NONE;
}

/* The first bytes of a TFRecord file tell whether it is compressed. Files of other framings may
 * begin with any bytes, and the two bytes of a ZLIB header are too few to be sure: AUTO detects
 * only GZIP in them. */
static recmap_status detect_compression(struct scan_shard *shard, recmap_compression requested,
                                        struct source *source, recmap_error *error) {
    if (requested != RECMAP_COMPRESSION_AUTO) {
        shard->compression = (enum compression)(requested - RECMAP_COMPRESSION_NONE);
        return RECMAP_OK;
    }
    recmap_status status = shard_bytes_detect(&shard->compression, source, error);
    if (status == RECMAP_OK && !source->stat.size)
        shard->compression = compression_of_name(shard->path);
    if (source->stat.size && !framing_is_tfrecord(shard->framing) &&
        shard->compression == COMPRESSION_ZLIB)
        shard->compression = COMPRESSION_NONE;
    return status;
}

static bool may_map(const struct scan_shard *shard, const struct source *source,
                    const struct scan_options *options) {
    recmap_error refusal = RECMAP_ERROR_INIT;
    if (options->never_maps) return false;
    if (map_is_allowed(source->fd, source->stat.size, shard->path, &refusal)) return true;
    map_warn_of_reading(&refusal);
    return false;
}

void scan_shard_detect(struct scan_shard *shard, const char *path, size_t index,
                       const struct scan_options *options) {
    const struct scan_form *form = options->forms ? &options->forms[index] : &options->form;
    shard->path = path;
    shard->index = index;
    shard->framing = form->framing ? form->framing : &tfrecord_framing;
    struct source *source = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = open_source(&source, shard, NULL, options, &error);
    if (status == RECMAP_OK) {
        shard->stat = source->stat;
        /* The file may be shorter than it was when the bounds were recorded. */
        shard->start = min_u64(form->start, source->stat.size);
        shard->end = form->is_bounded ? min_u64(form->end, source->stat.size) : source->stat.size;
        shard->is_remote = source->fd < 0;
        shard->is_streamed = shard->is_remote || !may_map(shard, source, options);
        shard->etag = strdup(source->etag);
        if (!shard->etag) status = fail_memory(&error);
    }
    if (status == RECMAP_OK) status = detect_compression(shard, form->compression, source, &error);
    source_close(source);
    scan_shard_set_status(shard, status, &error);
    if (status != RECMAP_OK) shard->state = SHARD_FAILED;
}

void scan_shard_set_status(struct scan_shard *shard, recmap_status status,
                           const recmap_error *error) {
    assert(!shard->error);
    shard->status = status;
    if (status == RECMAP_OK) return;
    shard->error = malloc(sizeof *shard->error);
    if (shard->error) *shard->error = *error;
    else shard->status = RECMAP_NO_MEMORY;
}

void scan_shard_copy_error(recmap_error *error, const struct scan_shard *shard) {
    if (shard->error) *error = *shard->error;
    else fail_memory(error);
}

void scan_shard_free_error(struct scan_shard *shard) {
    free(shard->error);
    shard->error = NULL;
}

static void close_source(struct scan_shard *shard) {
    source_close(shard->source);
    shard->source = NULL;
    read_window_deinit(&shard->window);
}

/* Maps a copy. Closes the source, even on failure. */
static recmap_status map_copy(struct shard_bytes *bytes, const struct scan_shard *shard,
                              struct source *source, recmap_error *error) {
    int fd = -1;
    recmap_status status = source_take_copy(&fd, source, error);
    if (status == RECMAP_OK) status = shard_bytes_open(bytes, fd, shard->end, shard->path, error);
    file_close(fd);
    if (status == RECMAP_OK && bytes->map)
        map_advise(bytes->map, shard->start, shard->end, MAP_ADVICE_SEQUENTIAL);
    return status;
}

/* Maps a local file, or a copy of it if mapping is refused now, although it was not when the shard
 * was detected. Closes the source, even on failure. */
static recmap_status map_file(struct scan_shard *shard, struct source *source,
                              recmap_error *error) {
    recmap_error refusal = RECMAP_ERROR_INIT;
    if (shard_bytes_open(&shard->bytes, source->fd, shard->end, shard->path, &refusal) !=
        RECMAP_OK) {
        map_warn_of_reading(&refusal);
        return map_copy(&shard->bytes, shard, source, error);
    }
    source_close(source);
    if (shard->bytes.map)
        map_advise(shard->bytes.map, shard->start, shard->end, MAP_ADVICE_SEQUENTIAL);
    return RECMAP_OK;
}

recmap_status scan_shard_open(struct scan_shard *shard, const struct scan_options *options,
                              recmap_error *error) {
    assert(shard->compression == COMPRESSION_NONE && !shard->bytes.map && !shard->source);
    struct source *source;
    RETURN_IF_FAILED(open_detected(&source, shard, options, error));
    if (!shard->is_streamed) return map_file(shard, source, error);
    shard->source = source;
    return RECMAP_OK;
}

/* Copies a remote shard, since finding the next good record needs all bytes that follow. */
static recmap_status copy_shard(struct scan_shard *shard, const struct scan_options *options,
                                recmap_error *error) {
    struct source *source;
    RETURN_IF_FAILED(open_detected(&source, shard, options, error));
    close_source(shard);
    return map_copy(&shard->bytes, shard, source, error);
}

static void scan_copy_piece(bool *has_more, uint64_t *piece_end, const struct scan_shard *shard,
                            const struct scanner *scanner, struct scan_findings *findings,
                            struct scan_cursor *cursor, uint64_t piece_size) {
    *piece_end += min_u64(piece_size, shard->end - *piece_end);
    scan_further(scanner, findings, cursor, shard->bytes.data, shard->bytes.size, *piece_end);
    /* A scan pauses only after it has added a run or damage, so the cursor is up to date. */
    if (findings_pause(findings)) *piece_end = min_u64(*piece_end, cursor->position);
    *has_more = *piece_end < shard->end && findings->status == RECMAP_OK;
}

/* The window moves on, but the first bytes show the kind of the shard: keep them. */
static recmap_status keep_prefix(struct scan_shard *shard, recmap_error *error) {
    const struct read_window *window = &shard->window;
    if (shard->prefix || window->origin || !window->size) return RECMAP_OK;
    shard->prefix = malloc(INFLATED_PREFIX);
    if (!shard->prefix) return fail_memory(error);
    shard->prefix_size = min_u64(window->size, INFLATED_PREFIX);
    memcpy(shard->prefix, window->data, shard->prefix_size);
    return RECMAP_OK;
}

recmap_status scan_shard_piece(bool *has_more, uint64_t *piece_end, struct scan_shard *shard,
                               const struct scan_options *options, struct scan_findings *findings,
                               struct scan_cursor *cursor, recmap_error *error) {
    struct scanner scanner = scan_shard_scanner(shard, options);
    uint64_t piece_size = options->segment_size ? options->segment_size : COPY_PIECE;
    if (!shard->source) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), piece_size, error));
        scan_copy_piece(has_more, piece_end, shard, &scanner, findings, cursor, piece_size);
        return RECMAP_OK;
    }
    shard->ahead = read_window_choose_size(shard->ahead, shard->window.wait_ns);
    shard->window.wait_ns = 0; /* the next piece may be in the window already */
    if (!options->segment_size) piece_size = shard->ahead;
    RETURN_IF_FAILED(interrupt_check(thread_interrupt(), piece_size, error));
    struct remote_scan scan = {&scanner, shard->source, &shard->window, piece_size};
    enum remote_verdict verdict;
    RETURN_IF_FAILED(remote_scan_window(&verdict, &scan, findings, cursor, error));
    RETURN_IF_FAILED(keep_prefix(shard, error));
    *has_more = verdict != REMOTE_END;
    *piece_end = *has_more ? cursor->position : shard->end;
    return verdict == REMOTE_BAD ? copy_shard(shard, options, error) : RECMAP_OK;
}

/* What the inflater reads from: a local file, or a remote shard, of which a window is held. */
struct inflate_input {
    int fd;
    struct source *source;
    struct read_window window;
    const char *path;
    uint64_t check; /* of all bytes that were read from the file, in their order */
};

static recmap_status read_opened(void *context, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    struct inflate_input *input = context;
    RETURN_IF_FAILED(interrupt_check(thread_interrupt(), size, error));
    RETURN_IF_FAILED(file_read_at(input->fd, data, size, offset, input->path, error));
    input->check = input->check * CHECK_FACTOR + crc32c(data, size);
    return RECMAP_OK;
}

/* The inflater reads forwards, except for a few bytes at the end of the file. */
static recmap_status read_arriving(void *context, void *data, size_t size, uint64_t offset,
                                   recmap_error *error) {
    struct inflate_input *input = context;
    struct read_window *window = &input->window;
    RETURN_IF_FAILED(interrupt_check(thread_interrupt(), size, error));
    if (!read_window_has(window, offset, size)) {
        uint64_t wanted = size > INFLATE_AHEAD ? size : INFLATE_AHEAD;
        uint64_t end = min_u64(offset + wanted, input->source->stat.size);
        assert(bytes_fit(offset, size, end));
        read_window_clear(window, offset);
        RETURN_IF_FAILED(read_window_fill(window, input->source, end, error));
    }
    memcpy(data, window->data + (offset - window->origin), size);
    return RECMAP_OK;
}

/* Scans a compressed shard from its start to its end. Given the seek points of an index, the scan
 * continues after damage at the next one. Without them, it records new ones. */
static recmap_status inflate_input(struct scan_shard *shard, const struct inflate_source *source,
                                   const struct scan_options *options,
                                   struct scan_findings *findings, recmap_error *error) {
    struct scanner scanner = scan_shard_scanner(shard, options);
    struct inflate_scan *scan = &shard->inflated;
    struct point_list known = {0};
    recmap_status status = RECMAP_OK;
    *scan = (struct inflate_scan){
        .scanner = &scanner,
        .source = *source,
        .kind = shard->compression,
        .path = shard->path,
        .memory_limit = options->memory_limit,
        .is_strict = shard->is_strict,
    };
    if (options->known_points) {
        status = options->known_points(&known, &scan->known_size, options->open_context,
                                       shard->index, error);
        scan->known = &known;
    }
    if (status == RECMAP_OK) status = inflate_scan_shard(scan, findings, error);
    shard->is_strict |= scan->needs_strict;
    /* Only the results outlive this function. */
    scan->scanner = NULL;
    scan->known = NULL;
    scan->source = (struct inflate_source){0};
    points_deinit(&known);
    return status;
}

static void discard_inflated(struct scan_shard *shard) {
    points_deinit(&shard->inflated.points);
    free(shard->inflated.prefix);
    shard->inflated = (struct inflate_scan){0};
}

/* Returns true if no damage was found, so that the shard need not be read once more. */
static bool is_certain_of(recmap_status status, const struct scan_findings *findings) {
    return status != RECMAP_CORRUPT && findings->status != RECMAP_CORRUPT &&
           !findings->damage_count;
}

/* Scans a remote shard as it arrives. `is_certain` is false if there seems to be damage: it may
 * have come about on the way. */
static recmap_status inflate_arriving(bool *is_certain, struct scan_shard *shard,
                                      struct source *source, const struct scan_options *options,
                                      struct scan_findings *findings, recmap_error *error) {
    struct inflate_input input = {.fd = -1, .source = source, .path = shard->path};
    struct inflate_source arriving = {
        .size = shard->stat.size, .read = read_arriving, .context = &input};
    recmap_status status = inflate_input(shard, &arriving, options, findings, error);
    read_window_deinit(&input.window);
    *is_certain = is_certain_of(status, findings) && !shard->is_strict;
    return status;
}

/* If there is damage, inflates strictly. Closes the source, even on failure. `check` is set to one
 * of the bytes that were read. */
static recmap_status inflate_file(uint64_t *check, struct scan_shard *shard, struct source *source,
                                  const struct scan_options *options,
                                  struct scan_findings *findings, recmap_error *error) {
    struct inflate_input input = {.fd = -1, .path = shard->path};
    struct inflate_source file = {.size = shard->stat.size, .read = read_opened, .context = &input};
    RETURN_IF_FAILED(source_take_file(&input.fd, source, error));
    recmap_status status = inflate_input(shard, &file, options, findings, error);
    if (shard->inflated.needs_strict) {
        discard_inflated(shard);
        input.check = 0;
        status = inflate_input(shard, &file, options, findings, error);
    }
    file_close(input.fd);
    *check = input.check;
    return status;
}

/* Scans a local shard that seems to be damaged once more. If other bytes are read then, its damage
 * may not be in the file. `check` comes from the first scan. */
static recmap_status inflate_again(struct scan_shard *shard, const struct scan_options *options,
                                   struct scan_findings *findings, uint64_t check,
                                   recmap_error *error) {
    struct source *source;
    uint64_t second = 0;
    recmap_error local = RECMAP_ERROR_INIT;
    RETURN_IF_FAILED(open_detected(&source, shard, options, error));
    file_forget(source->fd, 0, shard->stat.size);
    discard_inflated(shard);
    recmap_status status = inflate_file(&second, shard, source, options, findings, &local);
    if (!is_certain_of(status, findings) && second != check)
        status = fail_differing(&local, shard->path, "the compressed stream");
    if (status != RECMAP_OK && error) *error = local;
    return status;
}

recmap_status scan_shard_inflate(struct scan_shard *shard, const struct scan_options *options,
                                 struct scan_findings *findings, recmap_error *error) {
    struct source *source;
    uint64_t check = 0;
    RETURN_IF_FAILED(open_detected(&source, shard, options, error));
    if (source->fd < 0) {
        bool is_certain;
        recmap_status status =
            inflate_arriving(&is_certain, shard, source, options, findings, error);
        if (is_certain) source_close(source);
        if (is_certain) return status;
        discard_inflated(shard);
        return inflate_file(&check, shard, source, options, findings, error);
    }
    recmap_error local = RECMAP_ERROR_INIT;
    recmap_status status = inflate_file(&check, shard, source, options, findings, &local);
    if (!is_certain_of(status, findings))
        return inflate_again(shard, options, findings, check, error);
    if (status != RECMAP_OK && error) *error = local;
    return status;
}

void scan_shard_close(struct scan_shard *shard) {
    shard_bytes_close(&shard->bytes);
    close_source(shard);
    free(shard->prefix);
    shard->prefix = NULL;
    discard_inflated(shard);
    free(shard->etag);
    shard->etag = NULL;
}

struct scanner scan_shard_scanner(const struct scan_shard *shard,
                                  const struct scan_options *options) {
    return (struct scanner){shard->framing, options->extractor, options->on_bad_record,
                            options->header};
}

uint64_t scan_shard_size(const struct scan_shard *shard) {
    return shard->compression == COMPRESSION_NONE ? shard->end : shard->inflated.size;
}

recmap_status scan_shard_check_unchanged(const struct scan_shard *shard,
                                         const struct scan_options *options, recmap_error *error) {
    struct source *source;
    RETURN_IF_FAILED(open_detected(&source, shard, options, error));
    source_close(source);
    return RECMAP_OK;
}

recmap_status scan_shard_check_whole(const struct scan_shard *shard, recmap_error *error) {
    if (!shard_bytes_was_cut(&shard->bytes)) return RECMAP_OK;
    fail(error, RECMAP_IO, "the file was cut short while it was being read");
    fail_file(error, shard->path);
    fail_advise(error, "index it again when nothing writes to it any more");
    return RECMAP_IO;
}

/* A stream within a compressed shard, or NULL. */
static const struct file_kind *find_twice(const uint8_t *bytes, size_t size) {
    static const struct file_kind kinds[] = {
        [COMPRESSION_GZIP] = {"compressed twice: its decompressed data is GZIP again",
                              "decompress it once, with `gzip -d`"},
        [COMPRESSION_ZLIB] = {"compressed twice: its decompressed data is ZLIB again",
                              "decompress it once"},
    };
    enum compression inner = compression_detect(bytes, size);
    return inner == COMPRESSION_NONE ? NULL : &kinds[inner];
}

/* A framing whose records can be any bytes, so that only the start of the file tells that it is of
 * another kind. */
static bool takes_any_bytes(const struct framing *framing) {
    return !strcmp(framing->name, "lines") || !strcmp(framing->name, "ofrecord") ||
           framing_is_csv(framing);
}

/* The first bytes of the records: from the inflated shard, the mapped file or its copy, or kept
 * when they arrived. NULL: there are none. */
static const uint8_t *find_start(uint64_t *size, const struct scan_shard *shard) {
    bool is_plain = shard->compression == COMPRESSION_NONE;
    if (is_plain && shard->bytes.data) {
        *size = shard->bytes.size;
        return shard->bytes.data;
    }
    *size = is_plain ? shard->prefix_size : shard->inflated.prefix_size;
    return is_plain ? shard->prefix : shard->inflated.prefix;
}

/* What the content looks like is compared with the framing that was asked for. Framings of the user
 * and of fixed sizes are not judged: they may describe any file. */
const struct file_kind *scan_shard_other_kind(const struct scan_shard *shard) {
    bool is_plain = shard->compression == COMPRESSION_NONE;
    uint64_t size;
    const uint8_t *bytes = find_start(&size, shard);
    const struct framing *framing = shard->framing;
    if (!bytes || framing->custom || framing->record_size) return NULL;
    if (takes_any_bytes(framing)) return sniff_records(bytes, size, framing);
    if (framing->begins_frame(framing, bytes, size)) return NULL;
    const struct file_kind *twice = is_plain ? NULL : find_twice(bytes, size);
    if (twice) return twice;
    const struct file_kind *records = sniff_records(bytes, size, framing);
    return records || !framing_is_tfrecord(framing) ? records : sniff_file(bytes, size);
}

const char *scan_shard_due_kind(const struct scan_shard *shard) {
    const char *name = shard->framing->name;
    if (!strcmp(name, "tar")) return "a tar archive";
    if (!strcmp(name, "lines")) return "a text file";
    if (!strcmp(name, "ofrecord")) return "an OFRecord file";
    if (framing_is_csv(shard->framing)) return "a CSV file";
    return "a TFRecord file";
}

bool scan_shard_takes_any_bytes(const struct scan_shard *shard) {
    return takes_any_bytes(shard->framing);
}
