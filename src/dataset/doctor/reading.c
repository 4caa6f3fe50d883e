#include "dataset/doctor/reading.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/words/sample.h"
#include "base/words/url_prefix.h"

/* A group ends at either limit. */
enum { GROUP_RECORDS = 8192, GROUP_BYTES = 16 << 20 };

struct group {
    uint64_t items[GROUP_RECORDS];
    uint64_t numbers[GROUP_RECORDS];
    size_t count;
};

recmap_status reading_init(struct reading *reading, const struct examination *examination,
                           recmap_error *error) {
    *reading = (struct reading){
        .examination = examination,
        .size = sample_clamp(examination->options->sample, examination->item_count),
        .pass_count = examination->options->lists_records ? 2 : 1,
        .bad_shards = calloc(examination->shards.count + 1, sizeof(bool)),
        .reports_damage = true,
    };
    if (!reading->bad_shards) return fail_memory(error);
    for (size_t i = 0; i < examination->shards.count; i++)
        reading->bad_shards[i] = examination->shards.shards[i].is_missing;
    RETURN_IF_FAILED(recmap_batch_create(&reading->batch, error));
    recmap_batch_set_threads(reading->batch, examination->options->thread_count);
    return RECMAP_OK;
}

void reading_deinit(struct reading *reading) {
    recmap_batch_destroy(reading->batch);
    free(reading->bad_shards);
}

/* ---- Progress. */

/* The total size of the records is unknown; it is estimated from the mean of those read. */
static recmap_status report_progress(const struct reading *reading, recmap_error *error) {
    const recmap_doctor_options *options = reading->examination->options;
    if (!options->progress || !reading->done) return RECMAP_OK;
    double mean = (double)reading->bytes_read / (double)reading->done;
    recmap_progress progress = {
        .bytes_done = reading->bytes_read,
        .bytes_total = (uint64_t)(mean * (double)reading->size * reading->pass_count),
        .record_count = reading->done,
    };
    if (!options->progress(&progress, options->progress_context)) return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "cancelled");
}

/* ---- Records that cannot be read. */

/* Returns true if the error concerns a record or a shard, so that others may be readable. */
static bool is_local(const recmap_error *error) {
    if (error->status == RECMAP_CANCELLED || error->status == RECMAP_NO_MEMORY) return false;
    return error->status != RECMAP_IO || !url_is_url(error->path);
}

static size_t shard_of(const struct examination *examination, uint64_t item) {
    return shard_list_find(&examination->shards, examination_number(examination, item))->shard;
}

/* A shard that is missing or was changed gives no record, so the others are not tried. */
static recmap_status add_unreadable(struct reading *reading, uint64_t item,
                                    const recmap_error *reason, recmap_error *error) {
    static const struct finding_kind record_kind = {
        CHECK_DAMAGE, RECMAP_SEVERITY_ERROR,
        "restore the shard from its source; or index with --on-bad-record skip"};
    static const struct finding_kind shard_kind = {
        CHECK_DAMAGE, RECMAP_SEVERITY_ERROR,
        "restore the shard that was indexed, or index this one again"};
    const struct examination *examination = reading->examination;
    RETURN_IF_FAILED(diagnosis_list_record(examination->diagnosis, item, error));
    bool is_shard = reason->status == RECMAP_IO || reason->status == RECMAP_STALE;
    size_t shard = shard_of(examination, item);
    if (is_shard) reading->bad_shards[shard] = true;
    if (!reading->reports_damage) return RECMAP_OK;
    if (!is_shard)
        return examination_add(examination, record_kind, item, error, "%s", reason->message);
    return diagnosis_add(examination->diagnosis, shard_kind,
                         place_of_file(examination->shards.shards[shard].name), error, "%s",
                         reason->message);
}

/* ---- Groups. */

static recmap_status visit_records(struct reading *reading, struct reading_visit visit,
                                   const uint64_t *items, const recmap_record *records,
                                   size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) reading->bytes_read += records[i].size;
    if (reading->reports_damage) reading->examination->diagnosis->read_count += count;
    return visit.function(visit.context, items, records, count, error);
}

/* Consecutive records of a group. */
struct part {
    const uint64_t *items;
    const uint64_t *numbers;
    size_t count;
};

/* Returns how many records of the part precede the one with this number; 1 if it is not in the
 * part, or the first. */
static size_t count_preceding(struct part part, uint64_t number) {
    size_t count = part.count - 1;
    while (count > 1 && part.numbers[count] != number) count--;
    return count;
}

/* How many of the next records are not in bad shards. */
static size_t count_good(const struct reading *reading, const uint64_t *items, size_t count) {
    size_t good = 0;
    while (good < count && !reading->bad_shards[shard_of(reading->examination, items[good])])
        good++;
    return good;
}

/* Visits the records of the part. If one of several cannot be read, visits none, and leaves only
 * those in the part that precede it, or one. */
static recmap_status read_part(bool *is_read, struct reading *reading, struct reading_visit visit,
                               struct part *part, recmap_error *error) {
    recmap_error reason = RECMAP_ERROR_INIT;
    recmap_status status = recmap_dataset_gather(reading->batch, reading->examination->dataset,
                                                 part->numbers, part->count, &reason);
    *is_read = status == RECMAP_OK;
    if (*is_read)
        return visit_records(reading, visit, part->items, recmap_batch_records(reading->batch),
                             part->count, error);
    if (!is_local(&reason)) {
        if (error) *error = reason;
        return status;
    }
    if (part->count == 1) return add_unreadable(reading, *part->items, &reason, error);
    part->count = count_preceding(*part, reason.record);
    return RECMAP_OK;
}

/* A record that cannot be read fails all that are read with it, but the error says which one it is.
 * After it, few are read at first, because others near it are often damaged as well. */
static recmap_status read_group(struct reading *reading, struct reading_visit visit,
                                const struct group *group, recmap_error *error) {
    const struct examination *examination = reading->examination;
    for (size_t first = 0, size = group->count; first < group->count;) {
        const uint64_t *items = group->items + first;
        size_t count = (size_t)min_u64(size, group->count - first);
        struct part part = {items, group->numbers + first, count_good(reading, items, count)};
        if (!part.count) {
            RETURN_IF_FAILED(diagnosis_list_record(examination->diagnosis, *items, error));
            first++;
            continue;
        }
        bool is_single = part.count == 1, is_read;
        RETURN_IF_FAILED(read_part(&is_read, reading, visit, &part, error));
        if (is_read || is_single) first += part.count;
        size = is_read ? 2 * part.count : part.count;
    }
    return RECMAP_OK;
}

/* Fills the group with the next records that are not in bad shards. At least one fits. */
static recmap_status fill_group(struct group *group, struct reading *reading, uint64_t *next,
                                recmap_error *error) {
    const struct examination *examination = reading->examination;
    uint64_t room = GROUP_BYTES;
    for (group->count = 0; *next < reading->size && group->count < GROUP_RECORDS; ++*next) {
        uint64_t item = sample_position(*next, reading->size, examination->item_count);
        uint64_t number = examination_number(examination, item);
        if (reading->bad_shards[shard_of(examination, item)]) {
            RETURN_IF_FAILED(diagnosis_list_record(examination->diagnosis, item, error));
            continue;
        }
        recmap_location location;
        RETURN_IF_FAILED(recmap_dataset_locate(&location, examination->dataset, number, 1, error));
        if (group->count && location.size > room) break;
        room -= min_u64(location.size, room);
        group->items[group->count] = item;
        group->numbers[group->count++] = number;
    }
    return RECMAP_OK;
}

recmap_status reading_pass(struct reading *reading, struct reading_visit visit,
                           recmap_error *error) {
    struct group *group = malloc(sizeof *group);
    if (!group) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    for (uint64_t next = 0; status == RECMAP_OK && next < reading->size;) {
        uint64_t first = next;
        status = fill_group(group, reading, &next, error);
        if (status == RECMAP_OK) status = read_group(reading, visit, group, error);
        reading->done += next - first;
        if (status == RECMAP_OK) status = report_progress(reading, error);
    }
    recmap_batch_clear(reading->batch);
    free(group);
    reading->reports_damage = false;
    return status;
}
