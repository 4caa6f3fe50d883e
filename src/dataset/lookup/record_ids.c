#include "dataset/lookup/record_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "dataset/lookup/id_lookup.h"
#include "dataset/lookup/run_parts.h"

enum { READ_RECORDS = 1024, ID_WORK = 64 };

/* The bytes of ids, one after another. */
struct id_text {
    uint8_t *data;
    size_t size, capacity;
};

/* The records whose ids are read. */
struct id_reading {
    struct record_ids *ids;
    recmap_dataset *dataset;
    const uint64_t *numbers;
    bool is_mapped;
};

static recmap_status read_id(recmap_value *id, struct id_room *room, recmap_dataset *dataset,
                             const recmap_record *record, uint64_t number, recmap_error *error) {
    if (!dataset->part_count) return dataset_read_id(id, room, dataset, record, number, error);
    const struct dataset_part *part = concat_part_of_record(dataset, number);
    return dataset_read_id(id, room, part->dataset, record, number - part->first_record, error);
}

/* Copies the bytes of an id, whose address is set when the text no longer moves. */
static recmap_status keep_id(struct id_text *text, const recmap_value *id, recmap_error *error) {
    if (id->type != RECMAP_TYPE_BYTES || !id->as.bytes.size) return RECMAP_OK;
    size_t size = id->as.bytes.size;
    if (!array_reserve(&text->data, &text->capacity, text->size + size, 1))
        return fail_memory(error);
    memcpy(text->data + text->size, id->as.bytes.data, size);
    text->size += size;
    return RECMAP_OK;
}

static recmap_status read_run(struct id_text *text, recmap_batch *batch,
                              const struct id_reading *reading, size_t first, size_t count,
                              struct interrupt *interrupt, recmap_error *error) {
    const uint64_t *numbers = reading->numbers + first;
    RETURN_IF_FAILED(recmap_dataset_gather(batch, reading->dataset, numbers, count, error));
    const recmap_record *records = recmap_batch_records(batch);
    for (size_t i = 0; i < count; i++) {
        recmap_value *id = &reading->ids->ids[first + i];
        struct id_room room;
        RETURN_IF_FAILED(read_id(id, &room, reading->dataset, &records[i], numbers[i], error));
        RETURN_IF_FAILED(keep_id(text, id, error));
        RETURN_IF_FAILED(interrupt_check(interrupt, ID_WORK, error));
    }
    return RECMAP_OK;
}

/* Sets the addresses of the ids of a part. */
static void place_ids(struct record_ids *ids, const struct id_text *text, size_t begin,
                      size_t end) {
    const uint8_t *next = text->data;
    for (size_t i = begin; i < end; i++) {
        if (ids->ids[i].type != RECMAP_TYPE_BYTES) continue;
        ids->ids[i].as.bytes.data = next;
        next += ids->ids[i].as.bytes.size;
    }
}

/* Reads the ids of one thread's part of the records, batch by batch, into a buffer of its own.
 * Their places are set at the end, when the buffer no longer moves. */
static recmap_status read_part(void *context, size_t part, struct interrupt *interrupt,
                               recmap_error *error) {
    const struct id_reading *reading = context;
    struct record_ids *ids = reading->ids;
    struct id_text *text = &ids->texts[part];
    size_t begin = parts_begin(part, ids->text_count, ids->count);
    size_t end = parts_begin(part + 1, ids->text_count, ids->count);
    recmap_batch *batch;
    RETURN_IF_FAILED(recmap_batch_create(&batch, error));
    recmap_batch_set_interrupt(batch, interrupt->function, interrupt->context);
    recmap_status status = RECMAP_OK;
    text->size = 0;
    for (size_t first = begin; status == RECMAP_OK && first < end;) {
        size_t count = min_u64(end - first, READ_RECORDS);
        count =
            read_group_count(reading->dataset, reading->is_mapped, reading->numbers + first, count);
        status = read_run(text, batch, reading, first, count, interrupt, error);
        first += count;
    }
    recmap_batch_destroy(batch);
    if (status == RECMAP_OK) place_ids(ids, text, begin, end);
    return status;
}

static bool reserve_texts(struct record_ids *ids) {
    size_t former = ids->text_capacity;
    if (!array_reserve(&ids->texts, &ids->text_capacity, ids->text_count, sizeof *ids->texts))
        return false;
    for (size_t i = former; i < ids->text_capacity; i++) ids->texts[i] = (struct id_text){0};
    return true;
}

recmap_status record_ids_read(struct record_ids *ids, recmap_dataset *dataset,
                              const uint64_t *numbers, size_t count, recmap_error *error) {
    unsigned thread_count = parts_thread_count(count);
    struct id_reading reading = {ids, dataset, numbers,
                                 count >= READ_RECORDS && dataset_is_mapped(dataset)};
    ids->count = count;
    ids->text_count = parts_count(thread_count, count);
    if (!array_reserve(&ids->ids, &ids->capacity, count + 1, sizeof *ids->ids) ||
        !reserve_texts(ids))
        return fail_memory(error);
    return run_parts(read_part, &reading, ids->text_count, thread_count, error);
}

void record_ids_deinit(struct record_ids *ids) {
    for (size_t i = 0; i < ids->text_capacity; i++) free(ids->texts[i].data);
    free(ids->texts);
    free(ids->ids);
    *ids = (struct record_ids)RECORD_IDS_INIT;
}
