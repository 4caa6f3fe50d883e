#include "support/index/known.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/compress.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

static const recmap_lift lifts[KNOWN_COLUMNS] = {
    {"label", "5", 0}, {"score", "-0.5", 0}, {"word", "none", 0},
    {"late", "7", 0},  {"never", "2.5", 0},
};

static const recmap_counted_feature counted[] = {
    {"label", RECMAP_ELEMENT_NONE},
    {"word", RECMAP_ELEMENT_UINT8},
};

recmap_index_options known_index_options(const struct known *set) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = KNOWN_COLUMNS;
    options.counted_features = counted;
    options.counted_feature_count = sizeof counted / sizeof *counted;
    if (set->damage_count) options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    return options;
}

recmap_value known_id(const struct known *set, uint64_t id, char text[24]) {
    if (!set->has_text_ids) return int64_value((int64_t)id - 10);
    snprintf(text, 24, "image-%06u", (unsigned)id);
    return text_value(text);
}

static void choose_values(struct known_record *record, const struct known *set, bool is_late,
                          struct rng *random) {
    static const int64_t labels[] = {0, 1, -1, 300, 70000, INT64_MIN, INT64_MAX};
    record->has_id = !rng_one_in(random, 10);
    record->id = rng_below(random, set->id_limit);
    record->has_label = !rng_one_in(random, 3);
    record->label = labels[rng_below(random, rng_one_in(random, 20) ? 7 : 4)];
    record->has_score = !rng_one_in(random, 4);
    record->score = (float)(int64_t)rng_below(random, 1000) / 8 - 50;
    record->has_word = !rng_one_in(random, 4);
    snprintf(record->word, sizeof record->word, "%.*s", (int)rng_below(random, 12),
             "abcdefghijklm");
    record->has_late = is_late && !rng_one_in(random, 3);
    record->late = (int64_t)rng_below(random, 10);
}

static void make_payload(struct known_record *record, const struct known *set, size_t filler,
                         struct rng *random) {
    struct buffer features = BUFFER_INIT, example = BUFFER_INIT, noise = BUFFER_INIT;
    char text[24];
    recmap_value id = known_id(set, record->id, text);
    if (record->has_id && set->has_text_ids) features_add_text(&features, "id", text);
    else if (record->has_id) features_add_int64(&features, "id", id.as.int64);
    if (record->has_label) features_add_int64(&features, "label", record->label);
    else if (rng_one_in(random, 2)) features_add_nothing(&features, "label");
    if (record->has_score) features_add_float(&features, "score", record->score);
    if (record->has_word) features_add_text(&features, "word", record->word);
    if (record->has_late) features_add_int64(&features, "late", record->late);
    buffer_add_random(&noise, filler, random);
    if (filler) features_add_bytes(&features, "noise", noise.data, noise.size);
    features_end(&example, &features);
    record->data = example.data;
    record->size = example.size;
    buffer_deinit(&noise);
}

/* Bytes that are not a record, and in which no record begins. */
static void add_damage(struct known *set, size_t shard, struct rng *random) {
    struct buffer *bytes = &set->shards[shard];
    set->damages = must_realloc(set->damages, (set->damage_count + 1) * sizeof *set->damages);
    size_t size = 1 + (size_t)rng_below(random, 40);
    /* Two adjacent stretches of damage count as one. */
    const struct known_damage *last = set->damage_count ? &set->damages[set->damage_count - 1]
                                                        : NULL;
    if (last && last->shard == shard && last->offset + last->length == bytes->size) return;
    set->damages[set->damage_count++] = (struct known_damage){shard, bytes->size, size};
    while (size--) buffer_add_byte(bytes, 0xff);
}

/* Writes a shard as it is, or compressed, in one member or two. */
static uint64_t write_shard(const char *name, const struct buffer *bytes, bool is_compressed,
                            struct rng *random) {
    struct buffer file = BUFFER_INIT;
    size_t cut = (size_t)rng_below(random, bytes->size + 1);
    switch (is_compressed ? rng_below(random, 4) : 3) {
    case 0: compress_zlib(&file, bytes->data, bytes->size); break;
    case 1: compress_gzip(&file, bytes->data, bytes->size); break;
    case 2:
        compress_gzip(&file, bytes->data, cut);
        compress_gzip(&file, bytes->data + cut, bytes->size - cut);
        break;
    default: buffer_add(&file, bytes->data, bytes->size);
    }
    file_write(name, file.data, file.size);
    uint64_t size = file.size;
    buffer_deinit(&file);
    return size;
}

struct known known_generate(const struct known_options *options, struct rng *random) {
    struct known set = {.count = options->record_count,
                        .shard_count = options->shard_count,
                        .has_text_ids = options->has_text_ids,
                        .id_limit = options->record_count * 2 / 3 + 1};
    set.records = must_realloc(NULL, set.count * sizeof *set.records);
    set.shards = must_realloc(NULL, set.shard_count * sizeof *set.shards);
    for (size_t i = 0; i < set.shard_count; i++) set.shards[i] = (struct buffer)BUFFER_INIT;
    size_t shard = 0;
    for (size_t i = 0; i < set.count; i++) {
        /* Shards of all sizes, empty ones too. */
        while (shard + 1 < set.shard_count && rng_below(random, set.count) < set.shard_count)
            shard++;
        if (options->is_damaged && rng_one_in(random, 8)) add_damage(&set, shard, random);
        struct known_record *record = &set.records[i];
        *record = (struct known_record){.shard = shard, .offset = set.shards[shard].size};
        choose_values(record, &set, i > set.count / 2, random);
        make_payload(record, &set, (size_t)rng_below(random, options->record_size + 1), random);
        oracle_add_record(&set.shards[shard], record->data, record->size);
    }
    if (options->is_damaged) add_damage(&set, set.shard_count - 1, random);
    set.file_sizes = must_realloc(NULL, set.shard_count * sizeof *set.file_sizes);
    for (size_t i = 0; i < set.shard_count; i++)
        set.file_sizes[i] = write_shard(shard_names(set.shard_count)[i], &set.shards[i],
                                        options->is_compressed, random);
    return set;
}

void known_deinit(struct known *set) {
    for (size_t i = 0; i < set->count; i++) free(set->records[i].data);
    for (size_t i = 0; i < set->shard_count; i++) buffer_deinit(&set->shards[i]);
    free(set->records);
    free(set->damages);
    free(set->shards);
    free(set->file_sizes);
    *set = (struct known){0};
}

/* Written so that it may be called from many threads: cmocka's assertions must not. */
static void assert_is(const struct known *set, const recmap_record *record, uint64_t number) {
    const struct known_record *due = &set->records[number];
    if (record->number == number && record->size == due->size &&
        !memcmp(record->data, due->data, due->size))
        return;
    print_error("record %" PRIu64 " came as %" PRIu64 " with %zu bytes, %zu due\n", number,
                record->number, record->size, due->size);
    abort();
}

void known_assert_records(const struct known *set, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_dataset_count(dataset) != set->count) abort();
    for (uint64_t i = 0; i < set->count; i++) {
        recmap_record record;
        ASSERT_OK(recmap_dataset_get(&record, dataset, i, &error), &error);
        assert_is(set, &record, i);
        recmap_record_release(&record);
        recmap_record_release(&record);
    }
}

static void assert_range(const struct known *set, recmap_dataset *dataset, recmap_batch *batch,
                         struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t first = rng_below(random, set->count + 1);
    size_t count = (size_t)rng_below(random, set->count - first + 1);
    ASSERT_OK(recmap_dataset_read(batch, dataset, first, count, &error), &error);
    if (recmap_batch_count(batch) != count) abort();
    for (size_t i = 0; i < count; i++) assert_is(set, &recmap_batch_records(batch)[i], first + i);
}

/* Gathers random numbers in most rounds and close ones in every third round. Each record is
 * compared with the known one. */
void known_assert_batches(const struct known *set, recmap_dataset *dataset, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    ASSERT_OK(recmap_batch_create(&batch, &error), &error);
    for (int round = 0; round < 12; round++) {
        size_t count = set->count ? (size_t)rng_skewed(random, 9) : 0;
        uint64_t *numbers = must_realloc(NULL, count * sizeof *numbers);
        uint64_t near = rng_below(random, set->count);
        for (size_t i = 0; i < count; i++) {
            numbers[i] = rng_below(random, set->count);
            if (round % 3 == 0) numbers[i] = (near + rng_below(random, 5)) % set->count;
        }
        ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, count, &error), &error);
        if (recmap_batch_count(batch) != count) abort();
        for (size_t i = 0; i < count; i++)
            assert_is(set, &recmap_batch_records(batch)[i], numbers[i]);
        free(numbers);
        assert_range(set, dataset, batch, random);
    }
    recmap_batch_destroy(batch);
}

static void assert_text(const recmap_value *value, const char *due) {
    assert_int_equal(value->type, RECMAP_TYPE_BYTES);
    assert_int_equal(value->as.bytes.size, strlen(due));
    assert_memory_equal(value->as.bytes.data, due, strlen(due));
}

static void assert_names(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_dataset_get_info(dataset)->lifted_column_count, KNOWN_COLUMNS + 1);
    for (size_t i = 0; i < KNOWN_COLUMNS; i++) {
        size_t index;
        recmap_lifted_column info;
        ASSERT_OK(recmap_dataset_find_lifted_column(&index, dataset, lifts[i].name, &error),
                  &error);
        assert_int_equal(index, i + 1);
        ASSERT_OK(recmap_dataset_get_lifted_column(&info, dataset, index, &error), &error);
        assert_string_equal(info.name, lifts[i].name);
        assert_string_equal(info.default_value, lifts[i].default_value);
    }
}

/* What is of a type only because some record has the feature. */
static recmap_type type_of(recmap_dataset *dataset, size_t column) {
    recmap_lifted_column info;
    assert_int_equal(recmap_dataset_get_lifted_column(&info, dataset, column, NULL), RECMAP_OK);
    return info.type;
}

/* Compares every lifted value with the known record. Records without a feature must have the
 * column's default. */
void known_assert_columns(const struct known *set, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_names(dataset);
    assert_int_equal(type_of(dataset, 5), RECMAP_TYPE_FLOAT);
    for (uint64_t i = 0; i < set->count; i++) {
        const struct known_record *due = &set->records[i];
        int64_t length, label, late;
        float score, never;
        recmap_value word;
        ASSERT_OK(recmap_dataset_read_int64(&length, dataset, 0, i, 1, &error), &error);
        ASSERT_OK(recmap_dataset_read_int64(&label, dataset, 1, i, 1, &error), &error);
        ASSERT_OK(recmap_dataset_read_float(&score, dataset, 2, i, 1, &error), &error);
        ASSERT_OK(recmap_dataset_read_bytes(&word, dataset, 3, i, 1, &error), &error);
        ASSERT_OK(recmap_dataset_read_int64(&late, dataset, 4, i, 1, &error), &error);
        ASSERT_OK(recmap_dataset_read_float(&never, dataset, 5, i, 1, &error), &error);
        assert_int_equal(length, due->size);
        assert_true(label == (due->has_label ? due->label : 5));
        assert_true(score == (due->has_score ? due->score : -0.5f));
        assert_text(&word, due->has_word ? due->word : "none");
        assert_true(late == (due->has_late ? due->late : 7));
        assert_true(never == 2.5f);
    }
}

/* Compares the element counts of all records: of a feature with one value, and of the bytes of a
 * word. */
void known_assert_counts(const struct known *set, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_counts *labels, *words;
    ASSERT_OK(recmap_dataset_read_counts(&labels, dataset, "label", &error), &error);
    ASSERT_OK(recmap_dataset_read_counts(&words, dataset, "word", &error), &error);
    assert_int_equal(recmap_counts_record_count(labels), set->count);
    for (uint64_t i = 0; i < set->count; i++) {
        const struct known_record *due = &set->records[i];
        uint64_t label, word;
        ASSERT_OK(recmap_counts_read(&label, labels, i, 1, &error), &error);
        ASSERT_OK(recmap_counts_read(&word, words, i, 1, &error), &error);
        assert_int_equal(label, due->has_label);
        assert_int_equal(word, due->has_word ? strlen(due->word) : 0);
    }
    recmap_counts_release(labels);
    recmap_counts_release(words);
}

/* Compares the place of each record, each stretch of damage and each shard. Together these cover
 * every number in the offset table. */
void known_assert_places(const struct known *set, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_location *places = must_realloc(NULL, set->count * sizeof *places);
    ASSERT_OK(recmap_dataset_locate(places, dataset, 0, set->count, &error), &error);
    for (size_t i = 0; i < set->count; i++) {
        assert_int_equal(places[i].shard_index, set->records[i].shard);
        assert_int_equal(places[i].offset, set->records[i].offset);
        assert_int_equal(places[i].size, set->records[i].size);
    }
    free(places);
    assert_int_equal(recmap_dataset_get_info(dataset)->damage_count, set->damage_count);
    for (size_t i = 0; i < set->damage_count; i++) {
        recmap_damage damage;
        ASSERT_OK(recmap_dataset_get_damage(&damage, dataset, i, &error), &error);
        assert_int_equal(damage.shard_index, set->damages[i].shard);
        assert_int_equal(damage.offset, set->damages[i].offset);
        assert_int_equal(damage.size, set->damages[i].length);
    }
    assert_int_equal(recmap_dataset_get_info(dataset)->shard_count, set->shard_count);
    uint64_t first = 0;
    for (size_t i = 0; i < set->shard_count; i++) {
        recmap_shard_info info;
        ASSERT_OK(recmap_dataset_get_shard(&info, dataset, i, &error), &error);
        assert_string_equal(info.path, shard_names(set->shard_count)[i]);
        assert_int_equal(info.size, set->file_sizes[i]);
        assert_int_equal(info.first_record, first);
        while (first < set->count && set->records[first].shard == i) first++;
        assert_int_equal(info.first_record + info.record_count, first);
    }
}

/* All records with the id `id`, the plain way. */
static size_t find_plainly(const struct known *set, uint64_t id, uint64_t *numbers) {
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->records[i].has_id && set->records[i].id == id) numbers[count++] = i;
    return count;
}

/* Looks up every id, and some that do not exist, in three ways: all records, only their count, and
 * the first one. The expected numbers are found by comparing all records. */
void known_assert_ids(const struct known *set, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t *due = must_realloc(NULL, set->count * sizeof *due);
    uint64_t *numbers = must_realloc(NULL, set->count * sizeof *numbers);
    uint64_t total = 0;
    for (uint64_t id = 0; id < set->id_limit + 3; id++) {
        char text[24];
        recmap_value value = known_id(set, id, text);
        size_t due_count = find_plainly(set, id, due), count;
        ASSERT_OK(recmap_dataset_find_all(numbers, set->count, &count, dataset, &value, &error),
                  &error);
        if (count != due_count || memcmp(numbers, due, count * sizeof *due)) abort();
        ASSERT_OK(recmap_dataset_find_all(NULL, 0, &count, dataset, &value, &error), &error);
        if (count != due_count) abort();
        uint64_t number = UINT64_MAX;
        recmap_status status = recmap_dataset_find(&number, dataset, &value, &error);
        if (status != (count ? RECMAP_OK : RECMAP_NOT_FOUND)) abort();
        if (number != (count ? due[0] : UINT64_MAX)) abort();
        total += count;
    }
    if (recmap_dataset_get_info(dataset)->id_count != total) abort();
    free(due);
    free(numbers);
}
