#include "index/build/text_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "index/scan/shard_start.h"
#include "parse/text/header.h"

void text_parts_deinit(struct text_parts *text) {
    free(text->header);
    *text = (struct text_parts){.header = NULL};
}

static recmap_status set_header(struct text_parts *text, const void *header, size_t size,
                                const char *path, recmap_error *error) {
    text->header = malloc(size + 1);
    if (!text->header) return fail_memory(error);
    memcpy(text->header, header, size);
    text->header[size] = 0;
    text->header_size = size;
    text->header_path = path;
    return RECMAP_OK;
}

/* Takes the header of an index, or compares it with the one that is known. Columns that the index
 * has keep their types. */
static recmap_status inherit(struct text_parts *text, const struct build_part *part,
                             struct extractor *extractor, recmap_error *error) {
    const struct manifest *manifest = index_manifest(part->index);
    const struct framing *framing = manifest->shard_count ? index_shards(part->index)[0].framing
                                                          : NULL;
    for (size_t i = 0; i < manifest->column_count; i++)
        extractor_set_type(extractor, i, manifest->columns[i].type);
    if (!manifest->header || !framing) return RECMAP_OK;
    if (!text->header)
        return set_header(text, manifest->header, manifest->header_size, part->path, error);
    struct text_format format = text_format_of(framing, manifest->header, manifest->header_size);
    struct text_format due = text_format_of(framing, text->header, text->header_size);
    recmap_status status = header_check(&format, &due, text->header_path, error);
    if (status != RECMAP_OK) fail_file(error, part->path);
    return status;
}

static void sample_types(struct extractor *extractor, size_t column_count,
                         const struct shard_start *start, const struct framing *framing) {
    enum { COLUMNS_MAX = 64 };
    recmap_type types[COLUMNS_MAX] = {RECMAP_TYPE_NONE};
    size_t at = framing->has_header ? (size_t)start->first.size : 0, begin = at;
    struct frame frame;
    while (at < start->size && shard_start_next(&frame, &at, start, framing)) {
        extractor_widen_types(types, extractor, start->bytes + begin + frame.data_offset,
                              (size_t)frame.data_size);
        begin = at;
    }
    for (size_t i = 0; i < column_count; i++) extractor_set_type(extractor, i, types[i]);
}

/* Reads the start of a shard. The header of a shard that grew is that of its index. */
static recmap_status use_shard(struct text_parts *text, const struct build_part *part,
                               const struct scan_options *options, struct extractor *extractor,
                               size_t column_count, recmap_error *error) {
    const struct framing *framing = options->form.framing;
    struct shard_start start;
    recmap_status status = shard_start_read(&start, part->resolved, options, error);
    if (status == RECMAP_OK && framing->has_header && !text->header && start.first.size)
        status = set_header(text, start.bytes + start.first.data_offset,
                            (size_t)start.first.data_size, part->path, error);
    if (status == RECMAP_OK)
        status = extractor_use_text(extractor, framing, text->header, text->header_size, error);
    if (status == RECMAP_FEATURE || status == RECMAP_INVALID) fail_file(error, part->path);
    if (status == RECMAP_OK && extractor_reads_text(extractor))
        sample_types(extractor, column_count, &start, framing);
    free(start.bytes);
    return status;
}

/* Returns the first shard that is not empty, or else the first one; NULL without shards. */
static const struct build_part *find_shard(const struct build_part *parts, size_t count) {
    const struct build_part *first = NULL;
    for (size_t i = 0; i < count; i++) {
        struct file_stat stat;
        if (parts[i].index) continue;
        if (!first) first = &parts[i];
        if (!file_stat_path(&stat, parts[i].resolved) || stat.size) return &parts[i];
    }
    return first;
}

recmap_status text_parts_prepare(struct text_parts *text, const struct build_part *parts,
                                 size_t part_count, struct scan_options *options,
                                 struct extractor *extractor, size_t column_count,
                                 recmap_error *error) {
    for (size_t i = 0; i < part_count; i++)
        if (parts[i].index) RETURN_IF_FAILED(inherit(text, &parts[i], extractor, error));
    const struct build_part *shard = find_shard(parts, part_count);
    if (!shard) return RECMAP_OK;
    const struct framing *framing = build_part_framing(shard, options->form.framing);
    bool needs_start = framing->has_header || extractor_may_read_text(extractor, framing);
    if (!needs_start) return RECMAP_OK;
    options->form.framing = framing;
    return use_shard(text, shard, options, extractor, column_count, error);
}
