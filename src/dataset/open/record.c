/* Reading one record: locate, check, return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/read_again.h"
#include "base/os/thread.h"
#include "base/words/shell_word.h"
#include "dataset/open/dataset.h"
#include "format/framing/tfrecord.h"

/* The bytes of a record that was copied: read with pread, or inflated. The data set lists all of
 * them, so that closing it frees those that were never released. */
struct record_buffer {
    struct record_pin pin; /* first, so that a pin is its buffer */
    recmap_dataset *dataset;
    struct record_buffer *next, *previous;
    uint8_t bytes[];
};

static void unlink_buffer(struct record_buffer *buffer) {
    if (buffer->next) buffer->next->previous = buffer->previous;
    if (buffer->previous) buffer->previous->next = buffer->next;
    else buffer->dataset->buffers = buffer->next;
}

static void release_buffer(struct record_pin *pin) {
    struct record_buffer *buffer = (struct record_buffer *)pin;
    process_lock();
    unlink_buffer(buffer);
    process_unlock();
    free(buffer);
}

static struct record_buffer *create_buffer(recmap_dataset *dataset, uint64_t size) {
    if (size > SIZE_MAX - sizeof(struct record_buffer)) return NULL;
    struct record_buffer *buffer = malloc(sizeof *buffer + (size_t)size);
    if (!buffer) return NULL;
    *buffer = (struct record_buffer){.pin = {release_buffer}, .dataset = dataset};
    process_lock();
    buffer->next = dataset->buffers;
    if (buffer->next) buffer->next->previous = buffer;
    dataset->buffers = buffer;
    process_unlock();
    return buffer;
}

void recmap_record_release(recmap_record *record) {
    if (!record || !record->data) return;
    struct record_pin *pin = record->pin;
    *record = (recmap_record){.number = record->number};
    if (pin) pin->release(pin);
}

void record_buffers_destroy(recmap_dataset *dataset) {
    while (dataset->buffers) {
        struct record_buffer *buffer = dataset->buffers;
        dataset->buffers = buffer->next;
        free(buffer);
    }
}

/* The advice differs for compressed shards: a new scan cannot continue after damage in a stream,
 * but the seek points of this index still reach the records after it. */
static void advise_damage(const recmap_dataset *dataset, const struct index_place *place,
                          recmap_error *error) {
    const struct shard_entry *entry = &dataset->shard_table[place->shard_index].entry;
    char word[SHELL_WORD_SIZE];
    const char *path = dataset_path_of_shard(dataset, place->shard_index);
    if (!shell_word_write(word, sizeof word, path)) snprintf(word, sizeof word, "NAME.rmx");
    if (entry->compression != COMPRESSION_NONE) {
        fail_advise(error,
                    "restore the file from its source; this index still reads the rest, and "
                    "`recmap verify %s` lists what is lost; a loader skips bad records with "
                    "`RECMAP_ON_BAD_RECORD_SKIP`",
                    word);
        return;
    }
    char prefix[sizeof error->advice];
    snprintf(prefix, sizeof prefix,
             "run `recmap verify %s` to list all damage; a loader skips bad records with "
             "`RECMAP_ON_BAD_RECORD_SKIP`, and its saved states still load; to leave bad records "
             "out of the index, index again with ",
             word);
    dataset_advise_rebuild(error, dataset, (struct rebuild_option){"--on-bad-record", "skip"},
                           prefix);
}

static recmap_status fail_frame(const recmap_dataset *dataset, const struct open_shard *shard,
                                const struct index_place *place, uint64_t number,
                                bool has_other_length, const char *reason, recmap_error *error) {
    recmap_status status;
    if (shard && open_shard_was_cut(shard)) {
        status = fail(error, RECMAP_IO, "the file was truncated after it was opened");
        fail_advise(error, "restore the indexed file and open the data set again");
    } else if (has_other_length) {
        status = fail(error, RECMAP_STALE,
                      "the shard changed since it was indexed: the record's length differs");
        dataset_advise_rebuild(error, dataset, (struct rebuild_option){NULL, NULL},
                               "build the index again with ");
    } else {
        status = fail(error, RECMAP_CORRUPT, "%s", reason);
        advise_damage(dataset, place, error);
    }
    dataset_fail_at(error, dataset, place->shard_index, number, place->offset);
    return status;
}

/* The place of the record lies within its shard, but not within the bytes that were read. Records
 * that lie close to each other share a read, and in a forged index their places can contradict each
 * other. */
static recmap_status fail_outside(const recmap_dataset *dataset, const struct index_place *place,
                                  uint64_t number, recmap_error *error) {
    fail(error, RECMAP_CORRUPT,
         "the index is damaged or forged: the record is not in the bytes that were read for it");
    dataset_advise_rebuild(error, dataset, (struct rebuild_option){NULL, NULL},
                           "build the index again with ");
    dataset_fail_at(error, dataset, place->shard_index, number, place->offset);
    return RECMAP_CORRUPT;
}

/* Most frames are good TFRecord frames, which the first branch accepts without a call. A bad frame
 * is parsed a second time to find the reason, which takes longer than the check. */
recmap_status dataset_check_frame_as(recmap_record *record, const recmap_dataset *dataset,
                                     enum frame_check check, const struct shard_window *window,
                                     const struct index_place *place, uint64_t number,
                                     recmap_error *error) {
    const uint8_t *frame_bytes = window_find_frame(window, place);
    if (__builtin_expect(!frame_bytes, 0)) return fail_outside(dataset, place, number, error);
    const struct framing *framing = dataset->framings[place->shard_index];
    if (framing_is_tfrecord(framing) &&
        __builtin_expect(tfrecord_holds(frame_bytes, place->frame_size, check), 1)) {
        record->data = frame_bytes + TFRECORD_HEADER_SIZE;
        record->size = (size_t)(place->frame_size - TFRECORD_OVERHEAD);
        record->number = number;
        return RECMAP_OK;
    }
    struct frame frame;
    enum frame_verdict verdict =
        framing->parse(&frame, framing, frame_bytes, place->frame_size, check, NULL);
    if (__builtin_expect(verdict == FRAME_GOOD && frame.size == place->frame_size, 1)) {
        record->data = frame_bytes + frame.data_offset;
        record->size = (size_t)frame.data_size;
        record->number = number;
        return RECMAP_OK;
    }
    struct frame_fault fault = {"the record's length differs from the index"};
    bool has_other_length = verdict == FRAME_GOOD;
    if (!has_other_length) {
        framing->parse(&frame, framing, frame_bytes, place->frame_size, check, &fault);
        has_other_length = verdict == FRAME_BAD_LENGTH &&
                           framing->begins_frame(framing, frame_bytes, place->frame_size);
    }
    /* A compressed shard was compared with the index when it was opened, so it is damaged, not
     * stale: damage in the stream can produce any length, and good frames at wrong places. */
    if (dataset->shard_table[place->shard_index].entry.compression != COMPRESSION_NONE)
        has_other_length = false;
    return fail_frame(dataset, window->shard, place, number, has_other_length, fault.reason, error);
}

recmap_status dataset_check_frame(recmap_record *record, const recmap_dataset *dataset,
                                  const struct shard_window *window,
                                  const struct index_place *place, uint64_t number,
                                  recmap_error *error) {
    return dataset_check_frame_as(record, dataset, dataset->check, window, place, number, error);
}

typedef recmap_status read_function(const struct open_shard *shard, void *data, size_t size,
                                    uint64_t offset, recmap_error *error);

static recmap_status read_frame(recmap_record *record, struct record_buffer *buffer,
                                recmap_dataset *dataset, const struct open_shard *shard,
                                const struct index_place *place, uint64_t number,
                                read_function *read, recmap_error *error) {
    struct shard_window window = {buffer->bytes, place->offset, place->frame_size, NULL};
    recmap_status status =
        read(shard, buffer->bytes, (size_t)place->frame_size, place->offset, error);
    if (status == RECMAP_OK)
        return dataset_check_frame(record, dataset, &window, place, number, error);
    fail_at(error, NULL, number, RECMAP_NO_OFFSET);
    return status;
}

/* Reads a record of a local shard once more, after it failed a check with the bytes `first`: only
 * what is wrong in the file fails twice, with the same bytes. With the status OK, `pin` belongs to
 * a copy. */
static recmap_status read_again(recmap_record *record, recmap_dataset *dataset,
                                const struct open_shard *shard, const struct index_place *place,
                                uint64_t number, const uint8_t *first, recmap_status failed,
                                recmap_error *error) {
    bool is_possible;
    struct record_buffer *buffer = create_buffer(dataset, place->frame_size);
    if (!buffer) return failed;
    struct shard_window window = {buffer->bytes, place->offset, place->frame_size, NULL};
    recmap_status status = open_shard_read_again(&is_possible, shard, buffer->bytes,
                                                 (size_t)place->frame_size, place->offset, NULL);
    if (status != RECMAP_OK || !is_possible) status = failed;
    else status = dataset_check_frame(record, dataset, &window, place, number, NULL);
    if (status == RECMAP_OK) {
        record->pin = &buffer->pin;
        return RECMAP_OK;
    }
    if (is_possible && memcmp(first, buffer->bytes, (size_t)place->frame_size) != 0) {
        status = fail_differing(error, NULL, "the record");
        dataset_fail_at(error, dataset, place->shard_index, number, place->offset);
    }
    release_buffer(&buffer->pin);
    return status;
}

static bool may_be_wrong_read(recmap_status status) {
    return status == RECMAP_CORRUPT || status == RECMAP_STALE;
}

/* Bytes that fail a check may have been changed on the way, so they are read once more: past the
 * cache on the disk, because what it has may be damaged again. */
static recmap_status read_record(recmap_record *record, recmap_dataset *dataset,
                                 const struct open_shard *shard, const struct index_place *place,
                                 uint64_t number, recmap_error *error) {
    recmap_error local;
    struct record_buffer *buffer = create_buffer(dataset, place->frame_size);
    if (!buffer) return fail_memory(error);
    recmap_status status =
        read_frame(record, buffer, dataset, shard, place, number, open_shard_read, &local);
    if (may_be_wrong_read(status) && open_shard_forget(shard, place->offset, place->frame_size))
        status =
            read_frame(record, buffer, dataset, shard, place, number, open_shard_read_file, &local);
    record->pin = &buffer->pin;
    if (status == RECMAP_OK) return RECMAP_OK;
    if (may_be_wrong_read(status))
        status = read_again(record, dataset, shard, place, number, buffer->bytes, status, &local);
    release_buffer(&buffer->pin);
    if (status != RECMAP_OK && error) *error = local;
    return status;
}

void dataset_prefetch_page(const recmap_dataset *dataset, uint64_t number) {
    uint32_t shard_index;
    uint64_t offset;
    struct open_shard *shard;
    if (dataset->access != RECMAP_ACCESS_MAP || dataset->is_remote || dataset->evicts_shards ||
        !dataset_guess_place(&shard_index, &offset, dataset, number) ||
        dataset_pin_shard(&shard, dataset, shard_index, NULL) != RECMAP_OK)
        return;
    const uint8_t *bytes = open_shard_bytes(shard);
    if (bytes) prefetch_line(bytes + offset, PREFETCH_FIRST_ALONE);
    shard_cache_unpin(shard);
}

/* Says that the whole shard changed, or is damaged as a whole, if that is why a record is bad, so
 * that all calls give the same verdict on it. */
static recmap_status judge_shard(struct open_shard *shard, const struct index_place *place,
                                 uint64_t number, recmap_error *error) {
    recmap_error changed;
    if (open_shard_judge(shard, &changed) != RECMAP_STALE) {
        if (open_shard_is_lost(shard))
            fail_advise(error, "none of the sampled records of this shard can be read: restore the "
                               "whole file from its source");
        return RECMAP_CORRUPT;
    }
    fail_at(&changed, NULL, number, place->offset);
    if (error) *error = changed;
    return RECMAP_STALE;
}

/* Checks a record in a mapping. If it fails, the kernel may keep wrong bytes, so it is read once
 * more: then it is a copy, and does not pin the shard. */
static recmap_status check_mapped(recmap_record *record, recmap_dataset *dataset,
                                  struct open_shard *shard, const struct index_place *place,
                                  uint64_t number, recmap_error *error) {
    const struct shard_window *window = open_shard_window(shard);
    dataset_prefetch_one(dataset, window->data + place->offset, place->frame_size);
    record->pin = open_shard_record_pin(shard);
    recmap_status status = dataset_check_frame(record, dataset, window, place, number, NULL);
    if (__builtin_expect(status == RECMAP_OK, 1)) return RECMAP_OK;
    const uint8_t *bytes = window_find_frame(window, place);
    if (bytes && may_be_wrong_read(status)) {
        recmap_status again =
            read_again(record, dataset, shard, place, number, bytes, status, error);
        if (again == RECMAP_OK) shard_cache_unpin(shard);
        if (again != status) return again;
    }
    return dataset_check_frame(record, dataset, window, place, number, error);
}

/* The page of the record is prefetched before the index is read, so that both waits overlap. A
 * mapped shard gives a view that holds the pin; any other shard gives a copy. */
recmap_status recmap_dataset_get(recmap_record *record, recmap_dataset *dataset, uint64_t number,
                                 recmap_error *error) {
    if (__builtin_expect(number >= dataset->info.record_count, 0))
        return dataset_check_range(dataset, number, 1, error);
    dataset_prefetch_page(dataset, number);
    struct index_place place;
    RETURN_IF_FAILED(dataset_find_place(&place, dataset, number, error));
    struct open_shard *shard;
    recmap_status status = dataset_pin_shard(&shard, dataset, place.shard_index, error);
    if (status != RECMAP_OK) {
        fail_at(error, NULL, number, place.offset);
        return status;
    }
    const struct shard_window *window = open_shard_window(shard);
    recmap_record result;
    if (!window->data) {
        status = read_record(&result, dataset, shard, &place, number, error);
    } else {
        status = check_mapped(&result, dataset, shard, &place, number, error);
    }
    if (status == RECMAP_CORRUPT) status = judge_shard(shard, &place, number, error);
    if (status != RECMAP_OK || !window->data) shard_cache_unpin(shard);
    if (status == RECMAP_OK) *record = result;
    return status;
}
