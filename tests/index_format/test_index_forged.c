/* Indexes whose values say anything at all, under hashes and a seal that are right: opening one and
 * doing everything there is to do ends, within memory, in right records or in errors that say what
 * is wrong. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/index/sample.h"
#include "support/random.h"
#include "support/rounds.h"
#include "support/sanitizers.h"

enum { CASES = 400, CASES_LONG = 6000, SECONDS = 10, SECONDS_SANITIZED = 60 };

/* Numbers at which sums wrap, counts change and tables end. */
static uint64_t strange_number(uint64_t number, struct rng *random) {
    switch (rng_below(random, 8)) {
    case 0: return number + 1;
    case 1: return number - 1;
    case 2: return 0;
    case 3: return UINT64_MAX - rng_below(random, 3);
    case 4: return (uint64_t)1 << rng_below(random, 64);
    case 5: return rng_below(random, SAMPLE_RECORDS);
    case 6: return number + rng_below(random, 64);
    default: return rng_next(random);
    }
}

static void say_of_manifest(struct manifest *manifest, struct rng *random) {
    uint64_t *const numbers[] = {
        &manifest->record_count, &manifest->byte_count,   &manifest->id_count,
        &manifest->shard_count,  &manifest->damage_count, &manifest->damaged_byte_count,
    };
    uint64_t *number = numbers[rng_below(random, sizeof numbers / sizeof *numbers)];
    *number = strange_number(*number, random);
}

static void say_of_column(struct manifest_column *column, struct rng *random) {
    static const char *const defaults[] = {"", "0", "-9223372036854775808", "1e99", "nan", "x"};
    if (rng_one_in(random, 3))
        column->type = (recmap_type)rng_below(random, RECMAP_TYPE_FLOAT64 + 1);
    if (rng_one_in(random, 3)) column->first_value = strange_number(column->first_value, random);
    if (!rng_one_in(random, 3)) return;
    free(column->default_value);
    column->default_value = rng_one_in(random, 4) ? NULL : strdup(defaults[rng_below(random, 6)]);
}

static void say_of_shard(struct shard_entry *shard, struct rng *random) {
    static const char *const paths[] = {"s00000", "s00001", "s00002", "../s00000", "/dev/zero",
                                        ".",      "s",      "//",     "s00000/",   "sample.rmx"};
    uint64_t *const numbers[] = {&shard->file_size, &shard->size, &shard->record_count,
                                 &shard->damage_count, &shard->identity.sample_step};
    uint64_t *number = numbers[rng_below(random, sizeof numbers / sizeof *numbers)];
    *number = strange_number(*number, random);
    /* Of what is not compressed both sizes must be equal to be read at all. */
    if (rng_one_in(random, 2)) shard->file_size = shard->size;
    if (rng_one_in(random, 4)) shard->compression = (enum compression)rng_below(random, 3);
    if (rng_one_in(random, 4)) shard->mtime_ns++;
    if (!rng_one_in(random, 4)) return;
    free(shard->path);
    shard->path = strdup(paths[rng_below(random, 10)]);
}

static void say_of_damage(struct damage_entry *damage, struct rng *random) {
    uint64_t *const numbers[] = {&damage->shard, &damage->offset, &damage->length};
    uint64_t *number = numbers[rng_below(random, 3)];
    *number = strange_number(*number, random);
}

/* So that what was said is not refused for its sums alone. */
static void add_up(struct forged *index) {
    struct manifest *said = &index->manifest;
    said->byte_count = said->record_count = said->damage_count = said->damaged_byte_count = 0;
    for (size_t i = 0; i < index->shard_count; i++) {
        said->byte_count += index->shards[i].file_size;
        said->record_count += index->shards[i].record_count;
        said->damage_count += index->shards[i].damage_count;
    }
    for (size_t i = 0; i < index->damage_count; i++)
        said->damaged_byte_count += index->damages[i].length;
}

static void say_something(struct forged *index, struct rng *random) {
    switch (rng_below(random, 6)) {
    case 0: say_of_manifest(&index->manifest, random); break;
    case 1:
        say_of_column(&index->manifest.columns[rng_below(random, SAMPLE_COLUMNS)], random);
        break;
    case 2: say_of_damage(&index->damages[rng_below(random, SAMPLE_DAMAGES)], random); break;
    default: say_of_shard(&index->shards[rng_below(random, SAMPLE_SHARDS)], random); break;
    }
    if (!rng_one_in(random, 4)) add_up(index);
}

/* Values are large, heads and directories small: half of the changes hit the first bytes. */
static void change_bytes(struct forged *index, struct rng *random) {
    for (uint64_t left = 1 + rng_below(random, 3); left > 0; left--) {
        struct forged_table *table = &index->tables[rng_below(random, STORE_TABLE_COUNT)];
        if (!table->count) continue;
        struct forged_value *value = &table->values[rng_below(random, table->count)];
        size_t reach = rng_one_in(random, 2) && value->size > 128 ? 128 : value->size;
        if (!reach) continue;
        uint8_t *byte = &value->data[rng_below(random, reach)];
        switch (rng_below(random, 5)) {
        case 0: *byte ^= (uint8_t)(1 << rng_below(random, 8)); break;
        case 1: *byte = 0xff; break;
        case 2: *byte = 0; break;
        case 3: *byte = (uint8_t)rng_next(random); break;
        default: value->size = (size_t)rng_below(random, value->size + 1);
        }
    }
}

static void move_value(struct forged *index, struct rng *random) {
    enum store_table table = (enum store_table)rng_below(random, STORE_TABLE_COUNT);
    struct forged_table *source = &index->tables[table];
    if (!source->count) return;
    struct store_key last = source->values[source->count - 1].key;
    switch (rng_below(random, 3)) {
    case 0: forged_remove(index, table); break;
    case 1: source->values[source->count - 1].key.series++; break;
    default:
        forged_add(index, table, (struct store_key){last.chunk, last.series + 1},
                   source->values[0].data, source->values[0].size);
    }
}

static void forge(uint64_t seed, const char *path) {
    struct rng random = {seed};
    struct forged index = forged_read("sample.rmx");
    bool says = rng_one_in(&random, 2);
    if (says) say_something(&index, &random);
    forged_encode(&index);
    if (!says || rng_one_in(&random, 4)) change_bytes(&index, &random);
    if (rng_one_in(&random, 16)) move_value(&index, &random);
    forged_write(&index, path);
    forged_deinit(&index);
}

/* From here on: what a child does with the index. cmocka's assertions are not for children. */
static void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "%s\n", reason);
    fflush(stderr);
    _exit(1);
}

static bool is_ok(recmap_status status, recmap_error *error) {
    if (status == RECMAP_OK) return true;
    require(error->status == status && error->message[0], "a failure says nothing");
    *error = (recmap_error)RECMAP_ERROR_INIT;
    return false;
}

static volatile uint8_t sink;

static void touch(const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) sink ^= ((const uint8_t *)data)[i];
}

/* What comes is a payload of the sample: it parses, and has an id. Both ways give the same. */
static void read_records(recmap_dataset *dataset, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    uint64_t count = recmap_dataset_count(dataset);
    uint64_t all = count < 2000 ? count : 2000;
    require(recmap_batch_create(&batch, &error) == RECMAP_OK, "no batch");
    for (uint64_t i = 0; i < all; i++) {
        recmap_record record;
        bool came = is_ok(recmap_dataset_get(&record, dataset, i, &error), &error);
        bool gathered = is_ok(recmap_dataset_gather(batch, dataset, &i, 1, &error), &error);
        require(came == gathered, "get and gather do not agree");
        if (!came) continue;
        const recmap_record *other = recmap_batch_records(batch);
        require(record.size == other->size && !memcmp(record.data, other->data, record.size),
                "get and gather gave different bytes");
        require(memmem(record.data, record.size, "id-", 3) != NULL, "not a record of the sample");
        recmap_record_release(&record);
    }
    uint64_t first = rng_below(random, all + 1);
    if (is_ok(recmap_dataset_read(batch, dataset, first, (size_t)(all - first), &error), &error))
        for (size_t i = 0; i < recmap_batch_count(batch); i++)
            touch(recmap_batch_records(batch)[i].data, recmap_batch_records(batch)[i].size);
    for (uint64_t i = 0; i < all; i += 7) {
        recmap_location place;
        is_ok(recmap_dataset_locate(&place, dataset, i, 1, &error), &error);
    }
    recmap_batch_destroy(batch);
}

static void look_for_ids(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < SAMPLE_RECORDS + 10; i += 3) {
        char text[24];
        recmap_value id = sample_id(text, i);
        uint64_t numbers[4];
        size_t count;
        if (!is_ok(recmap_dataset_find_all(numbers, 4, &count, dataset, &id, &error), &error))
            continue;
        for (size_t k = 0; k < count && k < 4; k++) {
            recmap_record record;
            require(numbers[k] < recmap_dataset_count(dataset), "an id beyond the last record");
            if (!is_ok(recmap_dataset_get(&record, dataset, numbers[k], &error), &error)) continue;
            require(memmem(record.data, record.size, text, strlen(text)) != NULL, "a wrong id");
            recmap_record_release(&record);
        }
    }
}

static void read_columns(recmap_dataset *dataset) {
    static int64_t integers[2000];
    static float floats[2000];
    static double doubles[2000];
    static recmap_value values[2000];
    recmap_error error = RECMAP_ERROR_INIT;
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    size_t count = (size_t)(info->record_count < 2000 ? info->record_count : 2000);
    for (size_t c = 0; c < info->lifted_column_count; c++) {
        recmap_lifted_column column;
        if (is_ok(recmap_dataset_get_lifted_column(&column, dataset, c, &error), &error))
            touch(column.name, strlen(column.name));
        is_ok(recmap_dataset_read_int64(integers, dataset, c, 0, count, &error), &error);
        is_ok(recmap_dataset_read_float(floats, dataset, c, 0, count, &error), &error);
        is_ok(recmap_dataset_read_float64(doubles, dataset, c, 0, count, &error), &error);
        if (!is_ok(recmap_dataset_read_bytes(values, dataset, c, 0, count, &error), &error))
            continue;
        for (size_t i = 0; i < count; i++) touch(values[i].as.bytes.data, values[i].as.bytes.size);
    }
}

static void describe(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = RECMAP_TEXT_INIT;
    is_ok(recmap_dataset_info_to_json(&text, dataset, 1, &error), &error);
    recmap_text_deinit(&text);
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    for (uint64_t i = 0; i < info->damage_count && i < 100; i++) {
        recmap_damage damage;
        if (!is_ok(recmap_dataset_get_damage(&damage, dataset, i, &error), &error)) continue;
        touch(damage.reason, strlen(damage.reason));
        touch(damage.path, strlen(damage.path));
    }
}

static void verify(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_report *report;
    if (!is_ok(recmap_dataset_verify(&report, dataset, NULL, &error), &error)) return;
    recmap_text text = RECMAP_TEXT_INIT;
    is_ok(recmap_report_to_json(&text, report, &error), &error);
    recmap_text_deinit(&text);
    recmap_report_destroy(report);
}

/* What can be appended to gives an index that can be opened. */
static void append(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = sample_options();
    recmap_index_builder *builder;
    require(recmap_index_builder_create(&builder, "out.rmx", &options, &error) == RECMAP_OK,
            "no builder");
    bool is_built = is_ok(recmap_index_builder_add_index(builder, path, &error), &error) &&
                    is_ok(recmap_index_builder_add_shard(builder, "more", &error), &error) &&
                    is_ok(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    recmap_dataset *dataset;
    if (!is_built) return;
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.allow_absolute_paths = 1;
    require(recmap_dataset_open(&dataset, "out.rmx", &opening, &error) == RECMAP_OK, error.message);
    recmap_dataset_close(dataset);
}

/* 0: refused on opening; 2: opened. */
static int use(const char *path, uint64_t seed) {
    struct rng random = {seed + 1};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = (recmap_access)rng_below(&random, 2);
    options.shard_limit = (unsigned)rng_below(&random, 3);
    options.index_in_memory = (int)rng_below(&random, 2);
    recmap_dataset *dataset;
    append(path);
    if (!is_ok(recmap_dataset_open(&dataset, path, &options, &error), &error)) return 0;
    read_records(dataset, &random);
    look_for_ids(dataset);
    read_columns(dataset);
    describe(dataset);
    verify(dataset);
    recmap_dataset_close(dataset);
    return 2;
}

/* Returns what use does; anything else is a crash, a hang or a broken promise. */
static int use_in_child(const char *path, uint64_t seed) {
    bool is_sanitized = has_address_sanitizer || has_thread_sanitizer;
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        for (int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}, i = 0; i < 6; i++)
            signal(signals[i], SIG_DFL);
        alarm(is_sanitized ? SECONDS_SANITIZED : SECONDS);
        _exit(use(path, seed));
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (WIFSIGNALED(ended)) print_error("%s: ", strsignal(WTERMSIG(ended)));
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

static void test_forged_indexes_are_refused_or_read_safely(void **state) {
    (void)state;
    const char *asked = getenv("RECMAP_TEST_SEED");
    uint64_t first = asked ? strtoull(asked, NULL, 0) : 1;
    uint64_t count = asked       ? 1
                     : is_long() ? CASES_LONG
                                 : some_rounds(CASES),
             opened = 0, failed = 0;
    sample_build("sample.rmx");
    struct buffer more = file_read("s00000");
    file_write("more", more.data, more.size);
    buffer_deinit(&more);
    assert_int_equal(use_in_child("sample.rmx", 0), 2);
    for (uint64_t seed = first; seed < first + count; seed++) {
        forge(seed, "forged.rmx");
        int result = use_in_child("forged.rmx", seed);
        opened += result == 2;
        if (result == 0 || result == 2) continue;
        print_error("RECMAP_TEST_SEED=%u fails\n", (unsigned)seed);
        failed++;
    }
    print_message("%u of %u opened\n", (unsigned)opened, (unsigned)count);
    assert_int_equal(failed, 0);
    /* If opening refuses every index, nothing past opening is tested. */
    if (!asked) assert_true(opened > count / 5 && opened < count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forged_indexes_are_refused_or_read_safely,
                                        folder_enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
