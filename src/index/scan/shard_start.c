#include "index/scan/shard_start.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "format/deflate/inflate.h"
#include "index/scan/scan_shard.h"
#include "parse/text/text_source.h"

enum { FIRST_SIZE = 64 << 10 };

/* Where the bytes come from. */
struct start_reader {
    struct source *source;
    struct inflater *inflater; /* NULL: the shard is not compressed */
};

static recmap_status read_source(void *context, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    return source_read(context, data, size, offset, error);
}

static recmap_status inflate(struct shard_start *start, const struct start_reader *reader,
                             size_t size, recmap_error *error) {
    while (start->size < size && !start->is_whole) {
        size_t read_size = 0;
        enum inflate_verdict verdict = inflater_read(
            &read_size, reader->inflater, start->bytes + start->size, size - start->size, false);
        start->size += read_size;
        start->is_whole = verdict != INFLATE_OK;
        if (verdict != INFLATE_UNREADABLE) continue;
        if (error) *error = inflater_fault(reader->inflater)->error;
        return inflater_fault(reader->inflater)->error.status;
    }
    return RECMAP_OK;
}

/* Extends the bytes to `size` of them, if the shard has so many. */
static recmap_status extend(struct shard_start *start, const struct start_reader *reader,
                            size_t size, recmap_error *error) {
    uint8_t *bytes = realloc(start->bytes, size);
    if (!bytes) return fail_memory(error);
    start->bytes = bytes;
    if (reader->inflater) return inflate(start, reader, size, error);
    size_t end = (size_t)min_u64(size, reader->source->stat.size);
    RETURN_IF_FAILED(
        source_read(reader->source, bytes + start->size, end - start->size, start->size, error));
    start->size = end;
    start->is_whole = end == reader->source->stat.size;
    return RECMAP_OK;
}

/* Returns the first carriage return of a row that is neither in quotes nor at its end, or NULL. */
static const char *find_return(const char *row, size_t size, const struct framing *framing) {
    const struct text_format format = text_format_of(framing, NULL, 0);
    struct field_reader reader = text_format_reader(&format, row, size);
    struct field_text field = {.is_last = false};
    while (!field.is_last) {
        if (field_reader_next(&field, &reader, NULL) != RECMAP_OK) {
            const char *after = reader.fault_at + 1; /* a closing quote, for one */
            return after < reader.end && *after == '\r' ? after : NULL;
        }
        const char *found = field.is_quoted ? NULL : memchr(field.data, '\r', field.size);
        if (found) return found;
    }
    return NULL;
}

/* Refuses lines that end in CR alone: the whole file would be its header, and have no records. */
static recmap_status check_returns(const struct shard_start *start, const struct framing *framing,
                                   uint64_t row, uint64_t size, recmap_error *error) {
    const char *bytes = (const char *)start->bytes;
    const char *found = find_return(bytes + row, (size_t)size, framing);
    if (!found) return RECMAP_OK;
    fail(error, RECMAP_CORRUPT,
         "a carriage return is in the header line: its end must be LF or CR LF, not CR alone");
    fail_at(error, NULL, RECMAP_NO_RECORD, (uint64_t)(found - bytes));
    fail_advise(error, "if all lines end in CR, convert the file: `tr '\\r' '\\n' < OLD > NEW`; if "
                       "it is part of a name, put the name in quotes");
    return RECMAP_CORRUPT;
}

/* The header is too long, maybe because of a quote that is not closed. */
static recmap_status fail_header(const struct shard_start *start, const struct framing *framing,
                                 recmap_error *error) {
    struct frame frame;
    struct frame_fault fault;
    recmap_status status = RECMAP_UNSUPPORTED;
    RETURN_IF_FAILED(check_returns(start, framing, 0, start->size, error));
    enum frame_verdict verdict =
        framing->parse(&frame, framing, start->bytes, start->size, FRAME_CHECK_HEADER, &fault);
    if (verdict == FRAME_BAD_LENGTH) {
        status = fail(error, RECMAP_CORRUPT, "%s, and the header line has at most %d bytes",
                      fault.reason, (int)SHARD_HEADER_MAX);
        fail_at(error, NULL, RECMAP_NO_RECORD, 0);
    } else {
        fail(error, status, "the header line is longer than %d bytes", (int)SHARD_HEADER_MAX);
    }
    fail_advise(error, "if the file has no header line, add `,noheader` to the framing");
    return status;
}

/* Reads twice the bytes each time until they contain the first frame. */
static recmap_status find_first(struct shard_start *start, const struct start_reader *reader,
                                const struct framing *framing, recmap_error *error) {
    for (size_t wanted = FIRST_SIZE; wanted <= SHARD_HEADER_MAX; wanted *= 2) {
        size_t at = 0;
        RETURN_IF_FAILED(extend(start, reader, wanted, error));
        if (shard_start_next(&start->first, &at, start, framing) && framing->has_header)
            return check_returns(start, framing, start->first.data_offset, start->first.data_size,
                                 error);
        if (start->first.size || start->is_whole) return RECMAP_OK;
    }
    return framing->has_header ? fail_header(start, framing, error) : RECMAP_OK;
}

bool shard_start_next(struct frame *frame, size_t *at, const struct shard_start *start,
                      const struct framing *framing) {
    uint64_t left = start->size - *at;
    enum frame_verdict verdict =
        framing->parse(frame, framing, start->bytes + *at, left, FRAME_CHECK_HEADER, NULL);
    if (verdict == FRAME_GOOD && (frame->size < left || start->is_whole)) {
        *at += (size_t)frame->size;
        return true;
    }
    frame->size = 0;
    return false;
}

static recmap_status open_reader(struct start_reader *reader, const struct scan_shard *shard,
                                 const struct scan_options *options, recmap_error *error) {
    RETURN_IF_FAILED(scan_shard_open_again(&reader->source, shard, options, error));
    if (shard->compression == COMPRESSION_NONE) return RECMAP_OK;
    uint64_t size = reader->source->stat.size;
    struct inflate_source source = {
        .size = size, .read_end = size, .read = read_source, .context = reader->source};
    reader->inflater = inflater_create(shard->compression, &source);
    if (!reader->inflater) return fail_memory(error);
    inflater_start(reader->inflater, 0, 0);
    return RECMAP_OK;
}

static recmap_status read_start(struct shard_start *start, const struct scan_shard *shard,
                                const struct scan_options *options, recmap_error *error) {
    struct start_reader reader = {.source = NULL};
    recmap_status status = open_reader(&reader, shard, options, error);
    if (status == RECMAP_OK) status = find_first(start, &reader, shard->framing, error);
    if (reader.inflater) inflater_destroy(reader.inflater);
    source_close(reader.source);
    return status;
}

recmap_status shard_start_read(struct shard_start *start, const char *path,
                               const struct scan_options *options, recmap_error *error) {
    struct scan_shard shard = {.path = path};
    *start = (struct shard_start){.bytes = NULL};
    scan_shard_detect(&shard, path, 0, options);
    recmap_status status = shard.status;
    if (status != RECMAP_OK && error) scan_shard_copy_error(error, &shard);
    if (status == RECMAP_OK) status = read_start(start, &shard, options, error);
    if (status == RECMAP_UNSUPPORTED || status == RECMAP_CORRUPT) fail_file(error, path);
    scan_shard_close(&shard);
    scan_shard_free_error(&shard);
    return status;
}
