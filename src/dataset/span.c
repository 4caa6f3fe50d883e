#include "dataset/span.h"

#include <stdlib.h>

#include "base/error.h"
#include "os/file.h"

uint64_t span_begin(const span_source *source, uint64_t span_index) {
    return span_index ? source->points->at[span_index - 1].offset : 0;
}

uint64_t span_end(const span_source *source, uint64_t span_index) {
    return span_index < source->points->count ? source->points->at[span_index].offset
                                              : source->entry->size;
}

uint64_t span_at(const span_source *source, uint64_t offset) {
    return points_find(source->points, offset) + 1;
}

uint64_t span_file_begin(const span_source *source, uint64_t span_index) {
    return span_index ? source->points->at[span_index - 1].bit / 8 : 0;
}

uint64_t span_file_end(const span_source *source, uint64_t span_index) {
    return span_index < source->points->count ? source->points->at[span_index].bit / 8 + 1
                                              : source->entry->file_size;
}

static recmap_status read_file(void *context, void *data, size_t size, uint64_t offset,
                               recmap_error *error) {
    const span_source *source = context;
    return file_read_at(source->fd, data, size, offset, source->entry->path, error);
}

static recmap_status fail_span(const span_source *source, inflate_verdict verdict,
                               const inflate_fault *fault, recmap_error *error) {
    const shard_entry *entry = source->entry;
    const char *kind = compression_name(entry->compression);
    if (verdict == INFLATE_UNREADABLE) {
        *error = fault->error;
        return fault->error.status;
    }
    recmap_status status;
    if (source->map && source->map->was_cut) {
        status = fail(error, RECMAP_IO, "the file was cut short after it was opened");
        fail_advise(error, "bring the indexed file back and open the data set again");
    } else if (verdict == INFLATE_END) {
        status = fail(error, RECMAP_STALE,
                      "the shard changed since it was indexed: its %s stream "
                      "ends sooner",
                      kind);
        fail_advise(error, "build the index again with `recmap index`");
    } else {
        status = fail(error, RECMAP_CORRUPT, "the %s stream is damaged: %s", kind, fault->reason);
        fail_advise(error, "bring the file back from its source; records in other spans of it can "
                           "still be read, and `recmap verify` lists what is lost");
    }
    fail_at(error, entry->path, RECMAP_NO_RECORD,
            verdict == INFLATE_BAD ? fault->at : RECMAP_NO_OFFSET);
    return status;
}

static points_verdict start(inflater *in, const span_source *source, uint64_t span_index) {
    if (!span_index) return POINTS_OK;
    const stored_point *point = &source->points->at[span_index - 1];
    uint8_t window[INFLATE_WINDOW_MOST];
    seek_point from = {point->bit, point->offset, window, point->window_size};
    points_verdict verdict = points_unpack(window, point);
    if (verdict != POINTS_OK) return verdict;
    return inflater_start_at(in, &from) ? POINTS_OK : POINTS_BAD;
}

/* Room for more, but never more than is due; what comes out sizes it, not what an index says. */
static bool grow(span *filled, size_t *capacity, uint64_t due) {
    enum { FIRST = 8 << 20 };
    uint64_t wanted = *capacity ? (uint64_t)*capacity * 2 : FIRST;
    if (wanted > due) wanted = due;
    if (wanted > SIZE_MAX) return false;
    uint8_t *data = realloc(filled->data, (size_t)wanted + 1);
    if (!data) return false;
    filled->data = data;
    *capacity = (size_t)wanted;
    return true;
}

static void fail_without_memory(span *filled) {
    fail_memory(&filled->error);
    filled->is_passing = true;
}

static void fail_point(span *filled, const span_source *source) {
    fail(&filled->error, RECMAP_CORRUPT,
         "the index is damaged or forged: a point of this shard cannot be used");
    fail_at(&filled->error, source->entry->path, RECMAP_NO_RECORD, RECMAP_NO_OFFSET);
    fail_advise(&filled->error, "build the index again with `recmap index`");
}

void span_inflate(span *filled, const span_source *source, uint64_t span_index) {
    uint64_t due = span_end(source, span_index) - span_begin(source, span_index);
    inflate_source bytes = {.bytes = source->map ? source->map->data : NULL,
                            .size = source->entry->file_size,
                            .read = read_file,
                            .context = (void *)source};
    inflater *in = inflater_create(source->entry->compression, &bytes);
    size_t capacity = 0;
    if (!in) {
        fail_without_memory(filled);
        return;
    }
    inflate_verdict verdict = INFLATE_OK;
    points_verdict started = start(in, source, span_index);
    if (started == POINTS_NO_MEMORY) fail_without_memory(filled);
    if (started == POINTS_BAD) fail_point(filled, source);
    if (started != POINTS_OK) due = 0;
    while (filled->size < due && (verdict == INFLATE_OK || verdict == INFLATE_WRONG_SUM)) {
        size_t size;
        if (filled->size == capacity && !grow(filled, &capacity, due)) {
            fail_without_memory(filled);
            break;
        }
        verdict =
            inflater_read(&size, in, filled->data + filled->size, capacity - filled->size, false);
        filled->size += size;
    }
    if (filled->size < due && filled->error.status == RECMAP_OK) {
        recmap_status status = fail_span(source, verdict, inflater_fault(in), &filled->error);
        filled->is_passing = status != RECMAP_CORRUPT && status != RECMAP_STALE;
    }
    inflater_destroy(in);
}
