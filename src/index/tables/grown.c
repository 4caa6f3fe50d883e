#include "index/tables/grown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "format/deflate/inflate.h"

bool index_shard_can_grow(const struct index_shard *shard) {
    return shard->entry.compression == COMPRESSION_NONE && shard->framing->can_grow;
}

bool index_is_same_version(const struct source *source, const struct shard_entry *entry) {
    if (source->stat.size != entry->file_size) return false;
    if (source->etag[0] && entry->etag[0]) return !strcmp(source->etag, entry->etag);
    return source->stat.mtime_ns == entry->mtime_ns;
}

static recmap_status fail_changed(const struct index_shard *shard, const struct source *source,
                                  const char *difference, recmap_error *error) {
    char sizes[96] = "";
    if (source->stat.size != shard->entry.file_size)
        snprintf(sizes, sizeof sizes, "it has %" PRIu64 " byte%s, it had %" PRIu64 ", and ",
                 source->stat.size, plural(source->stat.size), shard->entry.file_size);
    fail(error, RECMAP_STALE, "the shard changed since it was indexed: %s%s", sizes, difference);
    fail_file(error, source->name);
    return RECMAP_STALE;
}

static recmap_status read_compressed(void *context, void *data, size_t size, uint64_t offset,
                                     recmap_error *error) {
    return source_read(context, data, size, offset, error);
}

/* Reads uncompressed bytes from the start of a compressed file. Those that cannot be inflated stay
 * as they are. */
static recmap_status inflate_start(uint8_t *bytes, size_t size, const struct index_shard *shard,
                                   struct source *source, recmap_error *error) {
    struct inflate_source input = {.size = source->stat.size,
                                   .read_end = source->stat.size,
                                   .read = read_compressed,
                                   .context = source};
    struct inflater *inflater = inflater_create(shard->entry.compression, &input);
    enum inflate_verdict verdict = INFLATE_OK;
    recmap_status status = RECMAP_OK;
    if (!inflater) return fail_memory(error);
    inflater_start(inflater, 0, 0);
    for (size_t done = 0, count = 0; verdict == INFLATE_OK && done < size; done += count)
        verdict = inflater_read(&count, inflater, bytes + done, size - done, false);
    if (verdict == INFLATE_UNREADABLE) {
        status = inflater_fault(inflater)->error.status;
        if (error) *error = inflater_fault(inflater)->error;
    }
    inflater_destroy(inflater);
    return status;
}

/* Parses a record at its place. One byte more is read, as far as there is one: a record whose end
 * is not marked, such as a line without a line feed, then has another size. */
static recmap_status read_frame(struct frame *frame, bool *is_good, const struct index_shard *shard,
                                const struct index_place *place, struct source *source,
                                enum frame_check check, recmap_error *error) {
    bool is_plain = shard->entry.compression == COMPRESSION_NONE;
    size_t size = (size_t)place->frame_size +
                  (is_plain && place->offset + place->frame_size < source->stat.size);
    uint8_t *bytes = calloc(1, size + 1);
    if (!bytes) return fail_memory(error);
    recmap_status status = is_plain ? source_read(source, bytes, size, place->offset, error)
                                    : inflate_start(bytes, size, shard, source, error);
    *is_good = status == RECMAP_OK &&
               shard->framing->parse(frame, shard->framing, bytes, size, check, NULL) == FRAME_GOOD;
    *is_good = *is_good && frame->size == place->frame_size;
    free(bytes);
    return status;
}

/* The last record may have been indexed before its end was written. */
static bool is_longer(const struct index_shard *shard, uint64_t record_index,
                      const struct frame *frame, const struct index_place *place) {
    return shard->framing->missing_end && record_index == shard->entry.record_count - 1 &&
           frame->size > place->frame_size;
}

/* Compares the record with the check of a sample, or, without one, verifies all of it. */
static recmap_status check_record(struct index_file *index, const struct index_shard *shard,
                                  uint64_t record_index, const uint32_t *expected,
                                  struct source *source, recmap_error *error) {
    struct index_place place;
    struct frame frame = {0};
    bool is_good = false;
    RETURN_IF_FAILED(index_locate(&place, index, shard->first_record + record_index, error));
    RETURN_IF_FAILED(read_frame(&frame, &is_good, shard, &place, source,
                                expected ? FRAME_CHECK_STORED : FRAME_CHECK_ALL, error));
    if (is_good && (!expected || frame.check == *expected)) return RECMAP_OK;
    fail_changed(shard, source,
                 is_longer(shard, record_index, &frame, &place)
                     ? "its last record is longer: it was indexed before it was complete"
                     : "its content differs",
                 error);
    fail_at(error, NULL, shard->first_record + record_index, place.offset);
    return RECMAP_STALE;
}

/* Damage at the end may be a record that was written only in part and is whole now. */
static bool ends_with_record(const struct index_file *index, const struct index_shard *shard) {
    const struct damage_entry *damages = index_damages(index) + shard->first_damage;
    if (!shard->entry.record_count) return shard->entry.size == shard->entry.start;
    if (!shard->entry.damage_count) return true;
    const struct damage_entry *last = &damages[shard->entry.damage_count - 1];
    return last->offset + last->length < shard->entry.size;
}

recmap_status index_check_end(struct index_file *index, uint32_t shard_index, struct source *source,
                              recmap_error *error) {
    const struct index_shard *shard = &index_shards(index)[shard_index];
    uint64_t count = shard->entry.record_count;
    return count ? check_record(index, shard, count - 1, NULL, source, error) : RECMAP_OK;
}

/* Of a compressed file, only a record at its start is compared: others cost inflating more. */
static recmap_status check_samples(struct index_file *index, const struct index_shard *shard,
                                   struct source *source, recmap_error *error) {
    const struct shard_identity *identity = &shard->entry.identity;
    bool is_plain = shard->entry.compression == COMPRESSION_NONE;
    struct index_place place = {0};
    if (shard->entry.record_count)
        RETURN_IF_FAILED(index_locate(&place, index, shard->first_record, error));
    size_t count = is_plain ? identity->sample_count : !place.offset;
    for (size_t i = 0; i < count; i++) {
        uint64_t record_index = i * identity->sample_step;
        if (record_index >= shard->entry.record_count) break;
        RETURN_IF_FAILED(
            check_record(index, shard, record_index, &identity->samples[i], source, error));
    }
    return RECMAP_OK;
}

recmap_status index_check_same(struct index_file *index, uint32_t shard_index,
                               struct source *source, recmap_error *error) {
    const struct index_shard *shard = &index_shards(index)[shard_index];
    if (index_is_same_version(source, &shard->entry)) return RECMAP_OK;
    if (source->fd < 0)
        return fail_changed(shard, source, "it is another version of the object", error);
    return check_samples(index, shard, source, error);
}

recmap_status index_compare_contents(bool *is_same, struct index_file *index, uint32_t shard_index,
                                     struct source *source, recmap_error *error) {
    const struct index_shard *shard = &index_shards(index)[shard_index];
    recmap_error difference = RECMAP_ERROR_INIT;
    *is_same = false;
    if (!shard->entry.record_count || source->stat.size != shard->entry.file_size) return RECMAP_OK;
    recmap_status status = check_samples(index, shard, source, &difference);
    if (status == RECMAP_STALE) return RECMAP_OK;
    *is_same = status == RECMAP_OK;
    if (error && status != RECMAP_OK) *error = difference;
    return status;
}

recmap_status index_check_grown(struct index_file *index, uint32_t shard_index,
                                struct source *source, recmap_error *error) {
    const struct index_shard *shard = &index_shards(index)[shard_index];
    if (!index_shard_can_grow(shard))
        return fail_changed(shard, source, "of such a file, new records cannot be read alone",
                            error);
    RETURN_IF_FAILED(check_samples(index, shard, source, error));
    RETURN_IF_FAILED(index_check_end(index, shard_index, source, error));
    return ends_with_record(index, shard)
               ? RECMAP_OK
               : fail_changed(shard, source, "its last record was not whole", error);
}
