#include "dataset/open/shard_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "format/framing/tfrecord.h"

/* One record of the shard, while it is compared. */
struct sample {
    struct index_place place;
    uint64_t number;
    const uint32_t *check; /* as indexed; NULL: unknown, so the record is checked by itself */
    enum samples_verdict verdict;
};

static const struct index_shard *indexed_shard(const struct shard_samples *samples) {
    return &index_shards(samples->index)[samples->shard_index];
}

static bool has_checks(const struct framing *framing) {
    return framing->check_payload != NULL;
}

/* The verdict on a frame that is not the indexed one. A header whose checksum is right was written
 * with its length, so another length is a change. With the same length, the payload decides. */
static enum samples_verdict judge_other(const struct framing *framing, const uint8_t *bytes,
                                        uint64_t size) {
    struct frame frame;
    if (!has_checks(framing))
        return framing->parse(&frame, framing, bytes, size, FRAME_CHECK_STORED, NULL) == FRAME_GOOD
                   ? SAMPLES_DIFFER
                   : SAMPLES_UNREADABLE;
    switch (framing->parse(&frame, framing, bytes, size, FRAME_CHECK_ALL, NULL)) {
    case FRAME_GOOD: return SAMPLES_DIFFER;
    case FRAME_BAD_DATA: return frame.size == size ? SAMPLES_UNREADABLE : SAMPLES_DIFFER;
    default:
        return framing->begins_frame(framing, bytes, size) ? SAMPLES_DIFFER : SAMPLES_UNREADABLE;
    }
}

/* A record of known check is compared by its header and stored check alone, so that damage in its
 * payload is left to whoever reads it. */
static enum samples_verdict judge_frame(const struct sample *sample, const struct framing *framing,
                                        const uint8_t *bytes) {
    struct frame frame;
    uint64_t size = sample->place.frame_size;
    enum frame_check check = sample->check ? FRAME_CHECK_STORED : FRAME_CHECK_ALL;
    if (framing->parse(&frame, framing, bytes, size, check, NULL) == FRAME_GOOD &&
        frame.size == size && (!sample->check || frame.check == *sample->check))
        return SAMPLES_EQUAL;
    return judge_other(framing, bytes, size);
}

/* Compares header and stored check of a TFRecord with those that were indexed, without reading its
 * payload. */
static recmap_status compare_ends(const struct sample *sample, const struct shard_samples *samples,
                                  bool *are_equal, recmap_error *error) {
    uint8_t header[TFRECORD_HEADER_SIZE], stored[TFRECORD_HEADER_SIZE], check[TFRECORD_FOOTER_SIZE];
    const struct index_place *place = &sample->place;
    *are_equal = false;
    if (!sample->check || place->frame_size < TFRECORD_OVERHEAD) return RECMAP_OK;
    tfrecord_make_header(header, place->frame_size - TFRECORD_OVERHEAD);
    RETURN_IF_FAILED(
        open_shard_read_file(samples->shard, stored, sizeof stored, place->offset, error));
    RETURN_IF_FAILED(open_shard_read_file(samples->shard, check, sizeof check,
                                          place->offset + place->frame_size - sizeof check, error));
    *are_equal = !memcmp(header, stored, sizeof header) && load32(check) == *sample->check;
    return RECMAP_OK;
}

static recmap_status judge_copy(struct sample *sample, const struct shard_samples *samples,
                                const struct framing *framing, recmap_error *error) {
    const struct index_place *place = &sample->place;
    bool are_equal = false;
    if (framing_is_tfrecord(framing))
        RETURN_IF_FAILED(compare_ends(sample, samples, &are_equal, error));
    sample->verdict = SAMPLES_EQUAL;
    if (are_equal) return RECMAP_OK;
    uint8_t *copy = malloc((size_t)place->frame_size);
    if (!copy) return fail_memory(error);
    recmap_status status =
        open_shard_read_file(samples->shard, copy, (size_t)place->frame_size, place->offset, error);
    if (status == RECMAP_OK) sample->verdict = judge_frame(sample, framing, copy);
    free(copy);
    return status;
}

/* Returns true if bytes of the shard could not be read: they are damaged in a compressed shard, or
 * the device or a cut file does not give them. A store that fails says nothing about the bytes. */
static bool is_unreadable(const struct shard_samples *samples, recmap_status status) {
    return status == RECMAP_CORRUPT ||
           (status == RECMAP_IO && !open_shard_is_remote(samples->shard));
}

/* Judges a record that is not the indexed one by its bytes in the file, if they are other ones than
 * those that were read or mapped. */
static recmap_status judge_again(struct sample *sample, const struct shard_samples *samples,
                                 recmap_error *error) {
    const struct index_place *place = &sample->place;
    bool is_possible;
    uint8_t *copy = malloc((size_t)place->frame_size);
    if (!copy) return fail_memory(error);
    recmap_status status = open_shard_read_again(&is_possible, samples->shard, copy,
                                                 (size_t)place->frame_size, place->offset, NULL);
    if (status == RECMAP_OK && is_possible)
        sample->verdict = judge_frame(sample, indexed_shard(samples)->framing, copy);
    free(copy);
    return RECMAP_OK;
}

/* Compares one record. */
static recmap_status compare(struct sample *sample, const struct shard_samples *samples,
                             uint64_t record, const uint32_t *check, recmap_error *error) {
    const struct index_shard *shard = indexed_shard(samples);
    sample->check = check;
    sample->number = shard->first_record + record;
    RETURN_IF_FAILED(index_locate(&sample->place, samples->index, sample->number, error));
    const struct shard_window *window = open_shard_window(samples->shard);
    const uint8_t *bytes = window->data ? window_find_frame(window, &sample->place) : NULL;
    if (bytes) sample->verdict = judge_frame(sample, shard->framing, bytes);
    if (window->data && !bytes) sample->verdict = SAMPLES_UNREADABLE;
    recmap_error local;
    recmap_status status = RECMAP_OK;
    if (!window->data) status = judge_copy(sample, samples, shard->framing, &local);
    if (status == RECMAP_OK && sample->verdict != SAMPLES_EQUAL)
        status = judge_again(sample, samples, &local);
    if (is_unreadable(samples, status)) {
        sample->verdict = SAMPLES_UNREADABLE;
        return RECMAP_OK;
    }
    if (status != RECMAP_OK && error) *error = local;
    return status;
}

/* Finds out why a sample of an uncompressed shard cannot be read. In a shard that was written
 * again, other records may lie across its place. A bisection between an earlier record that is
 * intact and the sample ends at a record that is not, but follows one that is. A record that was
 * written lies there in any case: it is of another length, or it is damaged. */
static recmap_status explain(struct sample *sample, const struct shard_samples *samples,
                             uint64_t intact, uint64_t record, recmap_error *error) {
    while (sample->verdict == SAMPLES_UNREADABLE && record - intact > 1) {
        uint64_t middle = intact + (record - intact) / 2;
        RETURN_IF_FAILED(compare(sample, samples, middle, NULL, error));
        if (sample->verdict == SAMPLES_EQUAL) intact = middle;
        else record = middle;
        if (sample->verdict == SAMPLES_EQUAL) sample->verdict = SAMPLES_UNREADABLE;
    }
    return RECMAP_OK;
}

/* Of the shard's start, how much is read to look for a whole frame. */
enum { START_SIZE = 1 << 20 };

/* Finds out whether a shard in which no sample can be read is another file, rather than damaged:
 * then a whole frame, with the right checksums, is at its start, where none was indexed. */
static recmap_status starts_otherwise(bool *is_other, const struct shard_samples *samples,
                                      recmap_error *error) {
    const struct index_shard *shard = indexed_shard(samples);
    size_t size = (size_t)min_u64(shard->entry.size, START_SIZE);
    struct frame frame;
    uint8_t *start = malloc(size + 1);
    if (!start) return fail_memory(error);
    recmap_error local;
    recmap_status status = open_shard_read_file(samples->shard, start, size, 0, &local);
    *is_other = status == RECMAP_OK && shard->framing->parse(&frame, shard->framing, start, size,
                                                             FRAME_CHECK_ALL, NULL) == FRAME_GOOD;
    free(start);
    if (status == RECMAP_OK || is_unreadable(samples, status)) return RECMAP_OK;
    if (error) *error = local;
    return status;
}

recmap_status samples_compare(enum samples_verdict *verdict, struct index_place *place,
                              uint64_t *number, const struct shard_samples *samples,
                              recmap_error *error) {
    const struct index_shard *shard = indexed_shard(samples);
    const struct shard_identity *identity = &shard->entry.identity;
    bool can_explain = shard->entry.compression == COMPRESSION_NONE && has_checks(shard->framing);
    uint64_t intact = UINT64_MAX; /* the sample before, if it was equal */
    bool is_other = false, has_equal = false;
    *verdict = SAMPLES_EQUAL;
    for (size_t i = 0; i < identity->sample_count; i += samples->step) {
        struct sample sample;
        uint64_t record = i * identity->sample_step;
        if (record >= shard->entry.record_count) break;
        RETURN_IF_FAILED(compare(&sample, samples, record, &identity->samples[i], error));
        if (sample.verdict == SAMPLES_UNREADABLE && can_explain && intact != UINT64_MAX)
            RETURN_IF_FAILED(explain(&sample, samples, intact, record, error));
        intact = sample.verdict == SAMPLES_EQUAL ? record : UINT64_MAX;
        has_equal = has_equal || sample.verdict == SAMPLES_EQUAL;
        if (sample.verdict > *verdict) *verdict = sample.verdict;
        *place = sample.place;
        *number = sample.number;
        if (*verdict == SAMPLES_DIFFER) return RECMAP_OK;
    }
    if (*verdict != SAMPLES_UNREADABLE || has_equal) return RECMAP_OK;
    if (can_explain) RETURN_IF_FAILED(starts_otherwise(&is_other, samples, error));
    *verdict = is_other ? SAMPLES_DIFFER : SAMPLES_NONE_READABLE;
    return RECMAP_OK;
}
