#include "dataset/doctor/index_checks.h"

#include <inttypes.h>
#include <stdlib.h>

#include <recmap/duplicates.h>
#include <recmap/example.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/text/json.h"

/* ---- Damage. */

enum { DAMAGE_LISTED_MAX = 100 };

static recmap_status add_damage(const struct examination *examination, uint64_t damage_index,
                                recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_DAMAGE, RECMAP_SEVERITY_ERROR,
        "restore the shard from its source and index again; the index leaves these bytes out"};
    static const struct finding_kind other = {
        CHECK_DAMAGE, RECMAP_SEVERITY_ERROR,
        "restore the shard from its source and index again; or, if it is a file of another kind, "
        "index it with its framing, as in `recmap index --framing lines` or `--framing csv`"};
    recmap_damage damage;
    RETURN_IF_FAILED(recmap_dataset_get_damage(&damage, examination->dataset, damage_index, error));
    size_t index = examination->shards.entries[damage.shard_index].shard;
    const struct listed_shard *shard = &examination->shards.shards[index];
    bool is_whole = !shard->record_count && !damage.offset;
    return diagnosis_add(
        examination->diagnosis, is_whole ? other : kind, place_of_file(shard->name), error,
        "%" PRIu64 " byte%s at byte %" PRIu64 " %s not a record: %s", damage.size,
        plural(damage.size), damage.offset, damage.size == 1 ? "is" : "are", damage.reason);
}

recmap_status check_damage(const struct examination *examination, recmap_error *error) {
    uint64_t count = recmap_dataset_get_info(examination->dataset)->damage_count;
    for (uint64_t i = 0; i < min_u64(count, DAMAGE_LISTED_MAX); i++)
        RETURN_IF_FAILED(add_damage(examination, i, error));
    if (count <= DAMAGE_LISTED_MAX) return RECMAP_OK;
    struct finding_kind more = {CHECK_LIMITS, RECMAP_SEVERITY_NOTE,
                                "`recmap info --json` lists all damage"};
    return diagnosis_add(examination->diagnosis, more, place_of_none(), error,
                         "the index lists %" PRIu64 " more damaged places",
                         count - DAMAGE_LISTED_MAX);
}

/* ---- No records. */

recmap_status check_no_records(const struct examination *examination, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_NO_RECORDS, RECMAP_SEVERITY_WARNING,
        "check that the shards were written and copied completely, and index again"};
    static const struct finding_kind chosen = {CHECK_NO_RECORDS, RECMAP_SEVERITY_WARNING,
                                               "check the condition by which it was selected"};
    if (examination->item_count) return RECMAP_OK;
    if (recmap_dataset_count(examination->dataset))
        return diagnosis_add(examination->diagnosis, chosen, place_of_none(), error,
                             "the selection has no records");
    return diagnosis_add(examination->diagnosis, kind, place_of_none(), error,
                         "the data set has no records: its shards are empty, or have damage only");
}

/* ---- Sizes of shards. */

/* A set of fewer shards, or with fewer records in a usual one, says little. */
enum { SHARDS_MIN = 3, SHARD_RECORDS_MIN = 4, SHARD_RATIO = 4 };

static int compare_numbers(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Shards of one set: their sizes and numbers of records, in memory of the caller. */
struct set_sizes {
    uint64_t *bytes;
    uint64_t *records;
    size_t count;
    size_t last; /* the last shard of the set */
};

static void collect_sizes(struct set_sizes *sizes, const struct shard_list *shards, size_t set) {
    sizes->count = 0;
    for (size_t i = 0; i < shards->count; i++) {
        const struct listed_shard *shard = &shards->shards[i];
        if (shard->set != set) continue;
        sizes->bytes[sizes->count] = shard->byte_count;
        sizes->records[sizes->count++] = shard->record_count;
        sizes->last = i;
    }
    qsort(sizes->bytes, sizes->count, sizeof *sizes->bytes, compare_numbers);
    qsort(sizes->records, sizes->count, sizeof *sizes->records, compare_numbers);
}

/* The last shard may be small: it has what the others left. */
static bool is_unusual(const struct listed_shard *shard, uint64_t median, bool is_last) {
    if (shard->byte_count / SHARD_RATIO > median) return true;
    return shard->byte_count < median / SHARD_RATIO && !is_last;
}

static recmap_status check_set_sizes(const struct examination *examination, struct set_sizes *sizes,
                                     size_t set, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_SHARD_SIZES, RECMAP_SEVERITY_WARNING,
        "write the set again with shards of equal size, with `recmap cat -o NAME@N`: readers that "
        "share a set by its shards would wait for the largest"};
    const struct shard_list *shards = &examination->shards;
    collect_sizes(sizes, shards, set);
    if (sizes->count < SHARDS_MIN || sizes->records[sizes->count / 2] < SHARD_RECORDS_MIN)
        return RECMAP_OK;
    uint64_t median = sizes->bytes[sizes->count / 2];
    const struct listed_shard *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < shards->count; i++) {
        const struct listed_shard *shard = &shards->shards[i];
        if (shard->set != set || !is_unusual(shard, median, i == sizes->last)) continue;
        if (!count++) first = shard;
    }
    if (!first) return RECMAP_OK;
    return diagnosis_add(examination->diagnosis, kind, place_of_file(first->name), error,
                         "%zu of %zu shards %s much larger or smaller than the rest; the first has "
                         "%" PRIu64 " bytes, half of the shards at most %" PRIu64,
                         count, sizes->count, count == 1 ? "is" : "are", first->byte_count, median);
}

recmap_status check_shard_sizes(const struct examination *examination, recmap_error *error) {
    size_t count = examination->shards.count;
    struct set_sizes sizes = {.bytes = malloc((count + 1) * sizeof(uint64_t)),
                              .records = malloc((count + 1) * sizeof(uint64_t))};
    recmap_status status = sizes.bytes && sizes.records ? RECMAP_OK : fail_memory(error);
    for (size_t set = 0; status == RECMAP_OK && set < examination->sets.count; set++)
        status = check_set_sizes(examination, &sizes, set, error);
    free(sizes.bytes);
    free(sizes.records);
    return status;
}

/* ---- Seek points. */

/* Spans usually have 1 to 4 MiB, plus the rest of a block. */
#define SPAN_SIZE_LIMIT ((uint64_t)16 << 20)

recmap_status check_seek_points(const struct examination *examination, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_SEEK_POINTS, RECMAP_SEVERITY_WARNING,
        "write the shards again, uncompressed or by another program: `recmap cat -o NAME@N`"};
    recmap_span_info spans;
    RETURN_IF_FAILED(recmap_dataset_get_span_info(&spans, examination->dataset, error));
    if (spans.largest_size <= SPAN_SIZE_LIMIT) return RECMAP_OK;
    return diagnosis_add(examination->diagnosis, kind, place_of_none(), error,
                         "the compressed shards have few seek points: reading one record may "
                         "inflate %" PRIu64 " MiB",
                         spans.largest_size >> 20);
}

/* ---- Ids. */

static const struct finding_kind ids_kind = {
    CHECK_IDS, RECMAP_SEVERITY_WARNING,
    "index by a feature whose value is another one in each record, with `recmap index --id`"};

recmap_status check_id_share(const struct examination *examination, recmap_error *error) {
    const recmap_dataset_info *info = recmap_dataset_get_info(examination->dataset);
    uint64_t distinct_count;
    if (!info->id_count) return RECMAP_OK;
    RETURN_IF_FAILED(
        recmap_dataset_count_distinct_ids(&distinct_count, examination->dataset, error));
    if (!recmap_ids_repeat(info->id_count, distinct_count)) return RECMAP_OK;
    return diagnosis_add(examination->diagnosis, ids_kind, place_of_none(), error,
                         "there are %" PRIu64 " different ids for %" PRIu64
                         " records: they are more likely to be labels",
                         distinct_count, info->record_count);
}

static recmap_status add_repeated(const struct examination *examination,
                                  const recmap_repeated_ids *ids, recmap_error *error) {
    for (size_t i = 0; i < ids->listed_count; i++)
        RETURN_IF_FAILED(
            diagnosis_list_record(examination->diagnosis, ids->listed[i].record, error));
    if (!ids->listed_count)
        return diagnosis_add(examination->diagnosis, ids_kind, place_of_none(), error,
                             "about %" PRIu64 " records have the id of an earlier record",
                             ids->count);
    struct finding_place first = examination_place(examination, ids->listed[0].first);
    return examination_add(examination, ids_kind, ids->listed[0].record, error,
                           "%" PRIu64 " record%s the id of an earlier record; the first that does "
                           "has the id of record %" PRIu64,
                           ids->count, ids->count == 1 ? " has" : "s have", first.record);
}

recmap_status check_ids(const struct examination *examination, recmap_error *error) {
    static const struct finding_kind missing = {
        CHECK_IDS, RECMAP_SEVERITY_WARNING,
        "these records cannot be found by id; index by a feature that all records have"};
    recmap_repeated_ids ids;
    RETURN_IF_FAILED(recmap_dataset_find_repeated_ids(
        &ids, examination->dataset, examination->numbers, (size_t)examination->item_count, error));
    if (ids.missing_count)
        RETURN_IF_FAILED(examination_add(examination, missing, ids.first_missing, error,
                                         "%" PRIu64 " of %" PRIu64 " records have no id",
                                         ids.missing_count, examination->item_count));
    size_t before = examination->diagnosis->count;
    RETURN_IF_FAILED(check_id_share(examination, error));
    if (!ids.count || examination->diagnosis->count > before) return RECMAP_OK;
    return add_repeated(examination, &ids, error);
}

/* ---- Sizes of records. */

/* A record is much larger than the rest if it is this many times as large as nine tenths of the
 * records, and not small by itself. */
enum { RECORDS_MIN = 10, RECORD_RATIO = 10, LARGE_MIN = 16 << 10 };

/* Collects whether the largest value of a record is text. */
struct largest_value {
    size_t size;
    bool is_text;
};

static bool is_text(const recmap_bytes *bytes) {
    const uint8_t *data = bytes->data;
    for (size_t i = 0; i < bytes->size; i++)
        if (data[i] < 0x20 && data[i] != '\n' && data[i] != '\r' && data[i] != '\t') return false;
    return utf8_valid(data, bytes->size);
}

static recmap_status visit_value(const recmap_example_part *part, void *context) {
    struct largest_value *largest = context;
    for (size_t i = 0; part->bytes && i < part->count; i++) {
        if (part->bytes[i].size < largest->size) continue;
        *largest = (struct largest_value){part->bytes[i].size, is_text(&part->bytes[i])};
    }
    size_t number_size = part->int64s ? part->count * sizeof(int64_t) : 0;
    if (part->floats) number_size = part->count * sizeof(float);
    if (number_size > largest->size) *largest = (struct largest_value){number_size, false};
    return RECMAP_OK;
}

/* Documents differ in length by orders of magnitude, so a long tail of text is only a note. */
static bool is_text_record(const struct examination *examination, uint64_t item) {
    struct largest_value largest = {0, false};
    recmap_record record;
    uint64_t number = examination_number(examination, item);
    if (recmap_dataset_get(&record, examination->dataset, number, NULL) != RECMAP_OK) return false;
    recmap_status status =
        recmap_example_visit(visit_value, &largest, record.data, record.size, NULL);
    if (status != RECMAP_OK || !largest.size)
        largest.is_text = is_text(&(recmap_bytes){record.data, record.size});
    recmap_record_release(&record);
    return largest.is_text;
}

static recmap_status judge_sizes(const struct examination *examination,
                                 const recmap_record_sizes *sizes, recmap_error *error) {
    struct finding_kind kind = {CHECK_RECORD_SIZES, RECMAP_SEVERITY_WARNING,
                                "look at them with `recmap view`: batches with one of them take "
                                "much more memory and time"};
    if (sizes->count < RECORDS_MIN) return RECMAP_OK;
    uint64_t usual = sizes->sizes[sizes->count * 9 / 10 - 1];
    uint64_t limit = usual * RECORD_RATIO > LARGE_MIN ? usual * RECORD_RATIO : LARGE_MIN;
    uint64_t count = 0, largest = sizes->sizes[sizes->count - 1];
    while (count < sizes->count && sizes->sizes[sizes->count - 1 - count] > limit) count++;
    if (!count) return RECMAP_OK;
    if (is_text_record(examination, sizes->largest)) kind.severity = RECMAP_SEVERITY_NOTE;
    else RETURN_IF_FAILED(diagnosis_list_record(examination->diagnosis, sizes->largest, error));
    return examination_add(examination, kind, sizes->largest, error,
                           "%" PRIu64 " of %" PRIu64 " records %s much larger than the rest; the "
                           "largest has %" PRIu64 " bytes, nine tenths at most %" PRIu64,
                           count, sizes->count, count == 1 ? "is" : "are", largest, usual);
}

recmap_status check_record_sizes(const struct examination *examination, recmap_error *error) {
    recmap_record_sizes sizes;
    RETURN_IF_FAILED(recmap_dataset_read_sizes(&sizes, examination->dataset, examination->numbers,
                                               examination->item_count, error));
    recmap_status status = judge_sizes(examination, &sizes, error);
    recmap_record_sizes_deinit(&sizes);
    return status;
}
