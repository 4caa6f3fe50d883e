/* Indexes that were mutated field by field, with all hashes and the seal right: whatever an index
 * says, opening it and using it in every way ends in records that are in its shards, or in errors
 * that say what is wrong. All access modes give the same.
 *
 * RECMAP_TEST_SEED=N repeats one case, RECMAP_TEST_CASES=N sets their number, and
 * RECMAP_TEST_FIRST=N the first of them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/mutation_samples.h"
#include "support/rounds.h"
#include "support/sanitizers.h"

enum {
    CASES = 200,
    CASES_LONG = 20000,
    CASES_OF_CHILD = 200,
    SECONDS = 10,
    SECONDS_SANITIZED = 60,
    RECORDS_MAX = 2000, /* read of one data set */
    TURNS = 2,          /* access modes of a case */
};

/* What the children did; shared with them. */
static struct progress {
    uint64_t seed;
    uint64_t opened_count, read_count, refused_count; /* data sets; records; records */
} * progress;

/* From here on: what a child does. cmocka's assertions are not for children. */
static void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "%s\n", reason);
    fflush(stderr);
    _exit(1);
}

static bool is_ok(recmap_status status, recmap_error *error) {
    if (status == RECMAP_OK) return true;
    require(error->status == status && error->message[0], "a failure says nothing");
    if (status == RECMAP_NO_MEMORY) {
        char text[8192];
        recmap_error_format(text, sizeof text, error);
        fprintf(stderr, "%s\n", text);
    }
    require(status != RECMAP_NO_MEMORY, "a number takes memory");
    *error = (recmap_error)RECMAP_ERROR_INIT;
    return false;
}

static volatile uint8_t sink;

static void touch(const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) sink ^= ((const uint8_t *)data)[i];
}

/* What get gave for a record: 0 for an error. */
static uint64_t digest_of(const recmap_record *record) {
    uint64_t digest = 0xcbf29ce484222325u ^ record->size;
    for (size_t i = 0; i < record->size; i++) digest = (digest ^ record->data[i]) * 0x100000001b3u;
    return digest | 1;
}

struct use {
    recmap_dataset *dataset;
    recmap_dataset_options options;
    struct rng random;
    uint64_t count; /* records that are read */
    uint64_t digests[RECORDS_MAX];
};

/* A record must be where the index has it. That is not asked of compressed shards whose records
 * have no checks: a forged seek point can give any bytes there. */
static void check_place(struct use *use, const recmap_record *record) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_location location;
    recmap_shard_info shard;
    require(recmap_dataset_locate(&location, use->dataset, record->number, 1, &error) == RECMAP_OK,
            "a record that can be read cannot be located");
    require(recmap_dataset_get_shard(&shard, use->dataset, location.shard_index, &error) ==
                RECMAP_OK,
            "a record is in no shard");
    require(location.size == record->size, "the location has another size");
    const struct sample_file *file = samples_find(shard.path);
    if (!file) return;
    bool is_plain = !strcmp(shard.compression, "none");
    bool is_checked = !strcmp(shard.framing, "tfrecord") && use->options.check == RECMAP_CHECK_DATA;
    if (!is_plain && !is_checked) return;
    const struct buffer *image = is_plain ? &file->bytes : &file->content;
    require(location.offset < image->size, "a record begins outside its shard");
    if (record->size)
        require(memmem(image->data + location.offset, image->size - location.offset, record->data,
                       record->size) != NULL,
                "a record is not in its shard");
}

/* One by one, in two ways. The first mode sets what the others must give. */
static void get_records(struct use *use, bool is_first) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < use->count; i++) {
        recmap_record record;
        recmap_peek peek;
        uint64_t digest = 0;
        bool was_peeked = recmap_dataset_peek(&peek, use->dataset, i);
        bool holds = was_peeked && is_ok(recmap_dataset_check(use->dataset, &peek, &error), &error);
        if (is_ok(recmap_dataset_get(&record, use->dataset, i, &error), &error)) {
            require(record.number == i, "get gave another record");
            digest = digest_of(&record);
            if (is_first) check_place(use, &record);
            recmap_record_release(&record);
        }
        require(!was_peeked || holds == (digest != 0), "peek and get do not agree");
        require(is_first || digest == use->digests[i], "access modes do not agree");
        use->digests[i] = digest;
        progress->read_count += digest != 0;
        progress->refused_count += !digest;
    }
}

/* With `collects`, a record that get refuses is in the batch without bytes. */
static void check_batch(const struct use *use, const recmap_batch *batch, bool collects) {
    const recmap_record *records = recmap_batch_records(batch);
    for (size_t i = 0; i < recmap_batch_count(batch); i++) {
        if (records[i].number >= use->count) continue;
        uint64_t digest = use->digests[records[i].number];
        bool is_lost = collects && !digest && !records[i].size;
        require(is_lost || digest_of(&records[i]) == digest, "a batch and get do not agree");
    }
}

/* Returns true if get gave all of them. */
static bool are_good(const struct use *use, const uint64_t *numbers, size_t count) {
    bool are = true;
    for (size_t i = 0; i < count; i++) are &= use->digests[numbers[i]] != 0;
    return are;
}

/* Only good records, or any; in order, or not; some twice. */
static size_t choose(uint64_t numbers[RECORDS_MAX], struct use *use) {
    bool only_good = !rng_one_in(&use->random, 4), in_order = rng_one_in(&use->random, 2);
    uint64_t step = 1 + rng_below(&use->random, 3), next = rng_below(&use->random, 3);
    size_t count = 0;
    for (; next < use->count; next += step) {
        uint64_t number = in_order ? next : rng_below(&use->random, use->count);
        if (!only_good || use->digests[number]) numbers[count++] = number;
    }
    return count;
}

static void gather_records(struct use *use, recmap_batch *batch) {
    static uint64_t numbers[RECORDS_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    for (int i = 0; i < 3; i++) {
        size_t count = choose(numbers, use);
        bool came =
            is_ok(recmap_dataset_gather(batch, use->dataset, numbers, count, &error), &error);
        require(came == are_good(use, numbers, count), "get and gather do not agree");
        require(recmap_batch_count(batch) == (came ? count : 0), "gather gave another count");
        for (size_t k = 0; came && k < count; k++)
            require(recmap_batch_records(batch)[k].number == numbers[k], "gather gave others");
        check_batch(use, batch, false);
    }
    uint64_t first = rng_below(&use->random, use->count + 1);
    if (is_ok(recmap_dataset_read(batch, use->dataset, first, (size_t)(use->count - first), &error),
              &error))
        check_batch(use, batch, false);
}

static recmap_parser *make_parser(void) {
    static const recmap_feature features[] = {
        {.name = "number", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_INT64},
        {.name = "id", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_BYTES},
        {.name = "text", .kind = RECMAP_FEATURE_VAR_LEN, .element = RECMAP_ELEMENT_BYTES},
    };
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser;
    require(recmap_parser_create(&parser, features, 3, &error) == RECMAP_OK, "no parser");
    return parser;
}

static void parse_records(struct use *use, recmap_batch *batch) {
    static uint64_t numbers[RECORDS_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser = make_parser();
    size_t count = choose(numbers, use);
    recmap_parse_mode mode = rng_one_in(&use->random, 2) ? RECMAP_PARSE_COLLECT
                                                         : RECMAP_PARSE_RAISE;
    bool came = is_ok(
        recmap_dataset_parse(batch, use->dataset, parser, numbers, count, mode, &error), &error);
    if (came) check_batch(use, batch, mode == RECMAP_PARSE_COLLECT);
    recmap_parser_release(parser);
}

static recmap_order *make_order(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    uint64_t seed = rng_next(&use->random);
    recmap_status status = rng_one_in(&use->random, 2)
                               ? recmap_order_sequential(&order, use->count, &error)
                               : recmap_order_shuffled(&order, use->count, seed, &error);
    require(status == RECMAP_OK, "no order");
    return order;
}

/* Up to the end of the epoch, or the first error. */
static void load_records(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_order *order = make_order(use);
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    options.batch_size = 1 + rng_below(&use->random, 40);
    options.thread_count = 1 + (unsigned)rng_below(&use->random, 2);
    options.on_bad_record = (recmap_on_bad_record)rng_below(&use->random, 3);
    options.readahead = (recmap_readahead)rng_below(&use->random, 3);
    options.parser = rng_one_in(&use->random, 3) ? make_parser() : NULL;
    require(recmap_loader_create(&loader, use->dataset, order, &options, &error) == RECMAP_OK,
            "no loader");
    while (is_ok(recmap_loader_next(&batch, loader, &error), &error) && batch)
        check_batch(use, batch, false);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_parser_release(options.parser);
    recmap_order_release(order);
}

/* Looks up ids that exist and some that do not. A mutated index may return fewer records, but each
 * record returned must contain the id. */
static void find_records(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < 3 * SAMPLE_FILE_RECORDS + 5; i += 4) {
        char text[24];
        uint64_t numbers[4], number;
        size_t count;
        snprintf(text, sizeof text, "id-%u", (unsigned)i);
        recmap_value id = text_value(text);
        is_ok(recmap_dataset_find(&number, use->dataset, &id, &error), &error);
        if (!is_ok(recmap_dataset_find_all(numbers, 4, &count, use->dataset, &id, &error), &error))
            continue;
        for (size_t k = 0; k < count && k < 4; k++) {
            recmap_record record;
            if (!is_ok(recmap_dataset_get(&record, use->dataset, numbers[k], &error), &error))
                continue;
            require(memmem(record.data, record.size, text, strlen(text)) != NULL, "a wrong id");
            recmap_record_release(&record);
        }
    }
}

/* Selects records by their nulls. A record is null or not, and never is part of a comparison if it
 * is. */
static void filter_records(struct use *use) {
    static const char null[] = "language is null or score is null",
                      other[] = "not (language is null) and score is not null",
                      compared[] = "(language == 'de' or language not in ('de',)) and score < 1e9";
    static uint8_t masks[3][RECORDS_MAX];
    static const char *const expressions[] = {null, other, compared};
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < 3; i++) {
        recmap_filter *filter;
        if (!is_ok(recmap_filter_create(&filter, use->dataset, expressions[i],
                                        strlen(expressions[i]), &error),
                   &error))
            return;
        bool is_matched =
            is_ok(recmap_filter_match(masks[i], filter, 0, (size_t)use->count, &error), &error);
        recmap_filter_destroy(filter);
        if (!is_matched) return;
    }
    for (size_t i = 0; i < use->count; i++) {
        require(masks[0][i] + masks[1][i] == 1, "a value is neither null nor not");
        require(masks[2][i] <= masks[1][i], "a null is part of a comparison");
    }
}

/* Reads every lifted column as each type and touches all bytes returned. Wrong types are refused; a
 * sanitizer detects values outside the file. */
static void read_columns(struct use *use) {
    static int64_t integers[RECORDS_MAX];
    static float floats[RECORDS_MAX];
    static double doubles[RECORDS_MAX];
    static recmap_value values[RECORDS_MAX];
    static uint8_t nulls[RECORDS_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = use->dataset;
    size_t count = (size_t)use->count;
    for (size_t c = 0; c < recmap_dataset_get_info(dataset)->lifted_column_count; c++) {
        recmap_lifted_column column;
        if (is_ok(recmap_dataset_get_lifted_column(&column, dataset, c, &error), &error))
            touch(column.name, strlen(column.name));
        is_ok(recmap_dataset_read_int64(integers, dataset, c, 0, count, &error), &error);
        is_ok(recmap_dataset_read_float(floats, dataset, c, 0, count, &error), &error);
        is_ok(recmap_dataset_read_float64(doubles, dataset, c, 0, count, &error), &error);
        bool has_nulls =
            is_ok(recmap_dataset_read_nulls(nulls, dataset, c, 0, count, &error), &error);
        if (!is_ok(recmap_dataset_read_bytes(values, dataset, c, 0, count, &error), &error))
            continue;
        for (size_t i = 0; has_nulls && column.type == RECMAP_TYPE_BYTES && i < count; i++)
            require((values[i].type == RECMAP_TYPE_NONE) == nulls[i], "nulls differ");
        for (size_t i = 0; i < count; i++) touch(values[i].as.bytes.data, values[i].as.bytes.size);
    }
    if (recmap_dataset_count(dataset) > RECORDS_MAX) return;
    is_ok(recmap_dataset_read_id_hashes((uint64_t *)integers, dataset, &error), &error);
}

static void describe(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_span_info info;
    is_ok(recmap_dataset_info_to_json(&text, use->dataset, 1, &error), &error);
    recmap_text_deinit(&text);
    is_ok(recmap_dataset_get_span_info(&info, use->dataset, &error), &error);
    uint64_t count = recmap_dataset_get_info(use->dataset)->damage_count;
    for (uint64_t i = 0; i < count && i < 100; i++) {
        recmap_damage damage;
        if (!is_ok(recmap_dataset_get_damage(&damage, use->dataset, i, &error), &error)) continue;
        touch(damage.reason, strlen(damage.reason));
        touch(damage.path, strlen(damage.path));
    }
}

static void verify(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    recmap_report *report;
    options.thread_count = 1;
    if (!is_ok(recmap_dataset_verify(&report, use->dataset, &options, &error), &error)) return;
    recmap_text text = RECMAP_TEXT_INIT;
    is_ok(recmap_report_to_json(&text, report, &error), &error);
    recmap_text_deinit(&text);
    recmap_report_destroy(report);
}

/* The locations that `recmap export` writes. */
static void locate_records(struct use *use) {
    static recmap_location locations[RECORDS_MAX];
    recmap_error error = RECMAP_ERROR_INIT;
    is_ok(recmap_dataset_locate(locations, use->dataset, 0, (size_t)use->count, &error), &error);
}

/* Counts that can be read are within the limits that row orders rely on. */
static void check_counts(const recmap_counts *counts) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t values[RECORDS_MAX], total = 0, count = recmap_counts_record_count(counts);
    for (uint64_t first = 0; first < count; first += RECORDS_MAX) {
        size_t here = (size_t)(count - first < RECORDS_MAX ? count - first : RECORDS_MAX);
        require(recmap_counts_read(values, counts, first, here, &error) == RECMAP_OK, "no counts");
        for (size_t i = 0; i < here; i++) {
            require(values[i] <= RECMAP_COUNTS_MAX - total, "counts exceed the limit");
            total += values[i];
        }
    }
    require(total == recmap_counts_total(counts), "counts do not add up");
}

static void read_counts(struct use *use) {
    recmap_error error = RECMAP_ERROR_INIT;
    size_t feature_count = recmap_dataset_get_info(use->dataset)->counted_feature_count;
    for (size_t i = 0; i < feature_count; i++) {
        recmap_counted_feature feature;
        recmap_counts *counts;
        require(recmap_dataset_get_counted_feature(&feature, use->dataset, i, &error) == RECMAP_OK,
                "a counted feature is not there");
        if (!is_ok(recmap_dataset_read_counts(&counts, use->dataset, feature.name, &error), &error))
            continue;
        require(recmap_counts_record_count(counts) == recmap_dataset_count(use->dataset),
                "counts are of other records");
        check_counts(counts);
        recmap_counts_release(counts);
    }
}

/* What can be merged gives an index that can be opened. */
static void merge(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_index_builder *builder;
    options.id_feature = "id";
    options.lifts = samples_lifts;
    options.lift_count = SAMPLE_LIFTS;
    options.counted_features = samples_counted;
    options.counted_feature_count = SAMPLE_COUNTED;
    options.lift = samples_extract;
    require(recmap_index_builder_create(&builder, "out.rmx", &options, &error) == RECMAP_OK,
            "no builder");
    bool is_built = is_ok(recmap_index_builder_add_index(builder, path, &error), &error) &&
                    is_ok(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    recmap_dataset *dataset;
    if (!is_built) return;
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.allow_absolute_paths = 1;
    require(recmap_dataset_open(&dataset, "out.rmx", &opening, &error) == RECMAP_OK, error.message);
    recmap_dataset_close(dataset);
}

static void use_records(struct use *use, bool is_first) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    uint64_t count = recmap_dataset_count(use->dataset);
    use->count = count < RECORDS_MAX ? count : RECORDS_MAX;
    require(recmap_batch_create(&batch, &error) == RECMAP_OK, "no batch");
    get_records(use, is_first);
    gather_records(use, batch);
    parse_records(use, batch);
    load_records(use);
    recmap_batch_destroy(batch);
}

static void use_once(struct use *use) {
    locate_records(use);
    find_records(use);
    read_columns(use);
    filter_records(use);
    read_counts(use);
    describe(use);
    if (rng_one_in(&use->random, 2)) verify(use);
}

/* By a map, and then in one of the ways that read: both together take too long. */
static void use_index(const char *path, uint64_t seed) {
    static struct use use;
    recmap_error error = RECMAP_ERROR_INIT;
    use.random = (struct rng){seed + 1};
    use.options = (recmap_dataset_options)RECMAP_DATASET_OPTIONS_INIT;
    use.options.check = rng_one_in(&use.random, 4) ? RECMAP_CHECK_HEADER : RECMAP_CHECK_DATA;
    use.options.lift = samples_extract;
    if (rng_one_in(&use.random, 4)) merge(path);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn) use.options.access = seed % 2 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_DIRECT;
        use.options.shard_limit = (unsigned)rng_below(&use.random, 3);
        use.options.index_in_memory = (int)rng_below(&use.random, 2);
        use.options.span_keep_size = rng_one_in(&use.random, 8) ? 4000 : 0;
        if (!is_ok(recmap_dataset_open(&use.dataset, path, &use.options, &error), &error)) return;
        progress->opened_count += !turn;
        use_records(&use, !turn);
        if (!turn) use_once(&use);
        recmap_dataset_close(use.dataset);
    }
}

static void limit_child(void) {
    struct rlimit none = {0, 0}, memory = {512 << 20, 512 << 20};
    setrlimit(RLIMIT_CORE, &none);
    if (!has_address_sanitizer && !has_thread_sanitizer) setrlimit(RLIMIT_DATA, &memory);
    for (int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}, i = 0; i < 6; i++)
        signal(signals[i], SIG_DFL);
}

static char memory_folder[64];

/* Writes the index in memory and copies it: only children read it, so that nothing need wait for
 * the device, as the store's writer does. */
static void forge(const char *path, uint64_t seed) {
    char in_memory[96];
    snprintf(in_memory, sizeof in_memory, "%s/forged.rmx", memory_folder);
    samples_mutate(in_memory, seed);
    struct buffer bytes = file_read(in_memory);
    file_write(path, bytes.data, bytes.size);
    buffer_deinit(&bytes);
}

static void run_child(uint64_t first, uint64_t end) {
    bool is_sanitized = has_address_sanitizer || has_thread_sanitizer;
    limit_child();
    for (uint64_t seed = first; seed < end; seed++) {
        progress->seed = seed;
        alarm(is_sanitized ? SECONDS_SANITIZED : SECONDS);
        forge("forged.rmx", seed);
        use_index("forged.rmx", seed);
    }
}

/* Runs the cases up to `end` or to the first that fails; returns the one after the last that ran.
 */
static uint64_t run_cases(bool *has_failed, uint64_t first, uint64_t end) {
    fflush(stdout);
    progress->seed = first;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        run_child(first, end);
        exit(0); /* for the leak check */
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    *has_failed = !WIFEXITED(ended) || WEXITSTATUS(ended);
    if (!*has_failed) return end;
    if (WIFSIGNALED(ended)) print_error("%s: ", strsignal(WTERMSIG(ended)));
    print_error("RECMAP_TEST_SEED=%llu fails\n", (unsigned long long)progress->seed);
    return progress->seed + 1;
}

static uint64_t number_of(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

/* The control run: an unchanged index must give every record and no error. Without it, mutations
 * could pass because nothing is ever read. */
static void test_unchanged_indexes_give_every_record(void **state) {
    (void)state;
    for (size_t set = 0; set < SAMPLE_SETS; set++) {
        char name[16];
        fflush(stdout);
        uint64_t read = progress->read_count, refused = progress->refused_count;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            limit_child();
            use_index(samples_index_name(name, set), set);
            exit(0);
        }
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
        size_t files = set == SAMPLE_KINDS ? SAMPLE_KINDS : SAMPLE_FILES;
        assert_int_equal(progress->read_count - read, TURNS * files * SAMPLE_FILE_RECORDS);
        assert_int_equal(progress->refused_count, refused);
    }
}

static void test_mutated_indexes_are_refused_or_read_safely(void **state) {
    (void)state;
    bool is_one = getenv("RECMAP_TEST_SEED") != NULL;
    uint64_t first = number_of("RECMAP_TEST_SEED", number_of("RECMAP_TEST_FIRST", 1));
    uint64_t count =
        is_one ? 1 : number_of("RECMAP_TEST_CASES", is_long() ? CASES_LONG : some_rounds(CASES));
    uint64_t end = first + count, failed = 0;
    *progress = (struct progress){0};
    for (uint64_t seed = first; seed < end;) {
        bool has_failed;
        uint64_t last = seed + CASES_OF_CHILD < end ? seed + CASES_OF_CHILD : end;
        seed = run_cases(&has_failed, seed, last);
        failed += has_failed;
    }
    print_message("%llu of %llu opened; %llu records read, %llu refused\n",
                  (unsigned long long)progress->opened_count, (unsigned long long)count,
                  (unsigned long long)progress->read_count,
                  (unsigned long long)progress->refused_count);
    assert_int_equal(failed, 0);
    /* A campaign that is refused on opening, or at every record, tests nothing else. */
    if (is_one) return;
    assert_true(progress->opened_count > count / 3 && progress->opened_count < count);
    assert_true(progress->refused_count && progress->read_count > progress->refused_count);
}

static int enter(void **state) {
    const char *root = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(memory_folder, sizeof memory_folder, "%s/recmap-XXXXXX", root);
    if (!mkdtemp(memory_folder) || folder_enter_on_device(state)) return -1;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return -1;
    samples_write();
    return 0;
}

static int leave(void **state) {
    char command[96];
    samples_deinit();
    munmap(progress, sizeof *progress);
    snprintf(command, sizeof command, "rm -rf '%s'", memory_folder);
    return system(command) | folder_leave(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unchanged_indexes_give_every_record),
        cmocka_unit_test(test_mutated_indexes_are_refused_or_read_safely),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
