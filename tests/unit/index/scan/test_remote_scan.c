/* Remote shards are scanned as their bytes arrive: for every framing, the result equals a local
 * scan's, each byte is requested once, and a failure is reported as what it is. */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "index/scan/read_window.h"
#include "index/scan/scan.h"
#include "index/scan/scanner.h"
#include "remote_file.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/rounds.h"
#include "support/shards/layout.h"
#include "support/shards/oracle.h"
#include "support/shards/plain_tar.h"

/* DETECTION_SIZE: bytes read of each shard to find out whether it is compressed. */
enum { DETECTION_SIZE = 16, SHARDS = 3 };

/* Everything that a sink was told, one line a fact. Records and damage of a shard are apart,
 * because how they alternate depends on the segments. */
struct story {
    struct buffer records, events;
    recmap_status status;
    recmap_error error;
    recmap_status run_status; /* what add_run returns, after `good_runs` calls */
    unsigned good_runs;
    bool was_refused;     /* add_run has failed */
    size_t run_count_max; /* records of the largest run */
};

static void story_deinit(struct story *story) {
    buffer_deinit(&story->records);
    buffer_deinit(&story->events);
}

__attribute__((format(printf, 2, 3))) static void tell(struct buffer *text, const char *format,
                                                       ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    buffer_add(text, line, (size_t)size);
}

static bool contains(const struct buffer *text, const char *part) {
    return memmem(text->data, text->size, part, strlen(part)) != NULL;
}

static bool is_same_text(const struct buffer *text, const struct buffer *other) {
    return text->size == other->size &&
           (!text->size || !memcmp(text->data, other->data, text->size));
}

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    (void)error;
    struct story *story = context;
    tell(&story->records, "shard %s\n", path);
    tell(&story->events, "shard %s\n", path);
    return RECMAP_OK;
}

static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct story *story = context;
    for (size_t i = 0; i < run->count; i++)
        tell(&story->records, "%llu %llu %x\n", (unsigned long long)run->offsets[i],
             (unsigned long long)run->sizes[i], (unsigned)run->checks[i]);
    if (run->count > story->run_count_max) story->run_count_max = run->count;
    if (story->run_status == RECMAP_OK) return RECMAP_OK;
    if (story->good_runs) {
        story->good_runs--;
        return RECMAP_OK;
    }
    assert_false(story->was_refused);
    story->was_refused = true;
    error->status = story->run_status;
    snprintf(error->message, sizeof error->message, "the sink is full");
    return story->run_status;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    struct story *story = context;
    (void)error;
    tell(&story->events, "damage %llu %llu %.200s\n", (unsigned long long)offset,
         (unsigned long long)length, reason);
    return RECMAP_OK;
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    struct story *story = context;
    (void)error;
    tell(&story->events, "end %llu %llu\n", (unsigned long long)end->size,
         (unsigned long long)end->tail_size);
    return RECMAP_OK;
}

static recmap_status skip_shard(void *context, const recmap_error *cause, recmap_error *error) {
    struct story *story = context;
    (void)error;
    tell(&story->events, "skipped: %.100s\n", cause->message);
    return RECMAP_OK;
}

struct setting {
    const struct framing *framing;
    unsigned threads;
    uint64_t segment_size;
    recmap_on_bad_record on_bad_record;
    struct remote_reads *reads; /* NULL: the shards are local */
    bool skips_shards;
    recmap_status run_status;
    unsigned good_runs;
};

static struct story scan(const struct setting *setting, size_t shard_count) {
    struct story story = {.run_status = setting->run_status, .good_runs = setting->good_runs};
    struct extractor *nothing;
    recmap_progress totals = {0};
    ASSERT_OK(extractor_create(&nothing, NULL, NULL), NULL);
    const struct scan_sink sink = {&story,    begin_shard,
                                   add_run,   add_damage,
                                   end_shard, setting->skips_shards ? skip_shard : NULL};
    const struct scan_options options = {
        .form = {.framing = setting->framing, .compression = RECMAP_COMPRESSION_NONE},
        .thread_count = setting->threads,
        .on_bad_record = setting->on_bad_record,
        .extractor = nothing,
        .segment_size = setting->segment_size,
        .open = setting->reads ? remote_file_open : NULL,
        .open_context = setting->reads,
        .totals = &totals,
    };
    story.status =
        scan_shards(shard_names(shard_count), shard_count, &sink, &options, &story.error);
    extractor_destroy(nothing);
    return story;
}

static bool is_damaged(const struct story *story) {
    return story->status != RECMAP_OK || contains(&story->events, "damage");
}

/* ---- Files of each framing. */

static void add_tar_member(struct buffer *file, unsigned number, size_t size, struct rng *random) {
    uint8_t header[512] = {0};
    snprintf((char *)header, 100, "%06u.%s", number / 2, number % 2 ? "txt" : "png");
    snprintf((char *)header + 124, 12, "%011o", (unsigned)size);
    header[156] = '0';
    plain_tar_sum(header);
    buffer_add(file, header, sizeof header);
    buffer_add_random(file, size, random);
    static const uint8_t zeros[512];
    buffer_add(file, zeros, -size % 512);
}

static void fill(struct buffer *file, const char *name, struct rng *random) {
    static const uint8_t zeros[2048];
    size_t count = (size_t)rng_below(random, 40);
    file->size = 0;
    if (!strcmp(name, "fixed:4,7,3")) buffer_add(file, "head", 4);
    for (size_t i = 0; i < count; i++) {
        size_t size = (size_t)rng_skewed(random, 10);
        if (!strcmp(name, "tfrecord")) {
            layout_add_records(file, size, random);
        } else if (!strcmp(name, "tar")) {
            add_tar_member(file, (unsigned)i, size, random);
        } else if (!strcmp(name, "lines")) {
            for (size_t j = 0; j < size; j++)
                buffer_add(file, rng_one_in(random, 80) ? "\r\n" : "x", 1 + rng_one_in(random, 50));
            if (i + 1 < count || rng_one_in(random, 2)) buffer_add(file, "\n", 1);
        } else {
            buffer_add_random(file, 7, random);
        }
    }
    if (!strcmp(name, "fixed:4,7,3")) buffer_add(file, "end", 3);
    if (!strcmp(name, "tar")) buffer_add(file, zeros, rng_below(random, 5) * 512);
}

/* Sometimes the file is cut, or a byte is changed. */
static void harm(struct buffer *file, struct rng *random) {
    if (!file->size) return;
    if (rng_one_in(random, 6)) file->size = (size_t)rng_below(random, file->size);
    if (file->size && rng_one_in(random, 6)) file->data[rng_below(random, file->size)] ^= 0x41;
}

static uint64_t write_shards(const char *name, struct rng *random) {
    struct buffer file = BUFFER_INIT;
    uint64_t size = 0;
    for (size_t i = 0; i < SHARDS; i++) {
        fill(&file, name, random);
        harm(&file, random);
        file_write(shard_names(SHARDS)[i], file.data, file.size);
        size += file.size;
    }
    buffer_deinit(&file);
    return size;
}

/* ---- Scans. */

/* Without damage each byte is requested once, and a window again if a bit of it was flipped. Of a
 * shard with damage, the bytes that do not become a frame are requested again, and it is copied. */
static void check_traffic(const struct story *local, const struct setting *setting, uint64_t size) {
    enum { FRAME_SIZE_MAX = 1024 };
    uint64_t due = is_damaged(local) ? 3 * size : size;
    if (setting->reads->flips) due += setting->segment_size + FRAME_SIZE_MAX;
    assert_true(atomic_load(&setting->reads->size) <= due + SHARDS * DETECTION_SIZE);
}

static void check_remote(const struct story *local, const char *name, struct setting *setting,
                         uint64_t size, uint64_t seed) {
    for (int flips = 0; flips < 2; flips++) {
        struct remote_reads reads = {.flips = flips};
        setting->reads = &reads;
        /* Only TFRecord has checksums, and a shard with damage is copied, which checks nothing. */
        if (flips && (strcmp(name, "tfrecord") != 0 || is_damaged(local))) continue;
        struct story remote = scan(setting, SHARDS);
        bool is_same = remote.status == local->status &&
                       remote.error.offset == local->error.offset &&
                       is_same_text(&remote.records, &local->records) &&
                       is_same_text(&remote.events, &local->events);
        if (!is_same)
            print_error("%s, seed %llu, %u threads, window %llu, flips %d\n", name,
                        (unsigned long long)seed, setting->threads,
                        (unsigned long long)setting->segment_size, flips);
        assert_true(is_same);
        check_traffic(local, setting, size);
        story_deinit(&remote);
    }
    setting->reads = NULL;
}

static void check_framing(const char *name, unsigned rounds) {
    struct framing framing;
    assert_true(framing_init(&framing, name));
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        struct rng random = {seed};
        uint64_t size = write_shards(name, &random);
        struct setting setting = {.framing = &framing,
                                  .threads = 1 + (unsigned)rng_below(&random, 4),
                                  .segment_size = 16 + rng_skewed(&random, 14),
                                  .on_bad_record = (recmap_on_bad_record)rng_below(&random, 2)};
        struct story local = scan(&setting, SHARDS);
        check_remote(&local, name, &setting, size, seed);
        story_deinit(&local);
    }
}

static void test_every_framing_is_scanned_remotely(void **state) {
    (void)state;
    static const char *const names[] = {"tfrecord", "lines", "tar", "fixed:4,7,3", "ofrecord"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_framing(names[i], some_rounds(300));
}

/* Headers whose checksums are right claim more bytes than the file has. */
static void test_long_claims_cost_little(void **state) {
    (void)state;
    struct buffer file = BUFFER_INIT;
    struct rng random = {3};
    for (int i = 0; i < 300; i++) {
        oracle_add_header(&file, (uint64_t)1 << (21 + i % 40));
        layout_add_records(&file, 2000, &random);
    }
    file_write(shard_names(1)[0], file.data, file.size);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct remote_reads reads = {0};
        struct setting setting = {.threads = threads,
                                  .segment_size = 20000,
                                  .on_bad_record = RECMAP_ON_BAD_RECORD_SKIP,
                                  .reads = &reads};
        struct story story = scan(&setting, 1);
        assert_int_equal(story.status, RECMAP_OK);
        assert_true(atomic_load(&reads.size) <= file.size + 3 * setting.segment_size);
        story_deinit(&story);
    }
    buffer_deinit(&file);
}

/* A record that does not fit the window is found in the copy of the shard. */
static void test_a_record_larger_than_the_window(void **state) {
    (void)state;
    struct buffer file = BUFFER_INIT;
    uint8_t *payload = calloc(1, READ_WINDOW_MAX);
    assert_non_null(payload);
    oracle_add_record(&file, "small", 5);
    oracle_add_record(&file, payload, READ_WINDOW_MAX);
    oracle_add_record(&file, "small", 5);
    file_write(shard_names(1)[0], file.data, file.size);
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct remote_reads reads = {0};
        struct setting setting = {.threads = threads, .reads = &reads};
        struct story story = scan(&setting, 1);
        assert_int_equal(story.status, RECMAP_OK);
        assert_true(contains(&story.records, " 67108864 "));
        assert_true(atomic_load(&reads.size) <= 2 * file.size);
        story_deinit(&story);
    }
    free(payload);
    buffer_deinit(&file);
}

static size_t count_reads(struct setting *setting) {
    struct remote_reads reads = {0};
    setting->reads = &reads;
    struct story story = scan(setting, SHARDS);
    assert_int_equal(story.status, RECMAP_OK);
    story_deinit(&story);
    return atomic_load(&reads.count);
}

static void write_good_shards(void) {
    struct rng random = {11};
    struct buffer file = BUFFER_INIT;
    for (size_t i = 0; i < SHARDS; i++) {
        file.size = 0;
        layout_add_records(&file, 8000, &random);
        file_write(shard_names(SHARDS)[i], file.data, file.size);
    }
    buffer_deinit(&file);
}

/* A request that fails ends the scan, or has its shard skipped if the sink wants that. */
static void test_requests_that_fail(void **state) {
    (void)state;
    write_good_shards();
    for (unsigned i = 0; i < 8; i++) {
        struct setting setting = {.threads = 1 + i % 4, .segment_size = i < 4 ? 1000 : 100};
        size_t count = count_reads(&setting);
        for (size_t failing = 1; failing <= count; failing += 1 + count / 20) {
            struct remote_reads reads = {.failing_read = failing};
            setting.reads = &reads;
            setting.skips_shards = false;
            struct story story = scan(&setting, SHARDS);
            assert_int_equal(story.status, RECMAP_IO);
            assert_string_equal(story.error.message, "the store has gone");
            story_deinit(&story);
            struct remote_reads again = {.failing_read = failing};
            setting.reads = &again;
            setting.skips_shards = true;
            story = scan(&setting, SHARDS);
            assert_int_equal(story.status, RECMAP_OK);
            assert_true(contains(&story.events, "skipped: the store has gone"));
            story_deinit(&story);
        }
    }
}

/* What is found in a shard is handed over piece by piece, so memory does not grow with its size. */
static void test_findings_are_bounded(void **state) {
    (void)state;
    enum { PIECE = 2000, FOUND_SIZE_MIN = 20 };
    struct buffer file = BUFFER_INIT;
    for (int i = 0; i < 20000; i++) oracle_add_record(&file, "", 0);
    for (size_t i = 0; i < SHARDS; i++) {
        if (i == 1) file.data[file.size / 2] ^= 1; /* this one is copied */
        file_write(shard_names(SHARDS)[i], file.data, file.size);
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct remote_reads reads = {0};
        struct setting setting = {.threads = threads,
                                  .segment_size = PIECE,
                                  .on_bad_record = RECMAP_ON_BAD_RECORD_SKIP,
                                  .reads = &reads};
        struct story story = scan(&setting, SHARDS);
        assert_int_equal(story.status, RECMAP_OK);
        assert_in_range(story.run_count_max, 1, PIECE / FOUND_SIZE_MIN + 1);
        story_deinit(&story);
    }
    buffer_deinit(&file);
}

/* What was handed over: the bytes in memory of one piece of findings, and of all. */
struct handed_over {
    uint64_t size, size_max;
    uint64_t record_count, damage_count;
};

enum { RECORD_FOUND_SIZE = 20 };

static recmap_status hand_run(void *context, const struct record_run *run, recmap_error *error) {
    struct handed_over *handed = context;
    (void)error;
    handed->size = RECORD_FOUND_SIZE * run->count;
    handed->record_count += run->count;
    if (handed->size > handed->size_max) handed->size_max = handed->size;
    return RECMAP_OK;
}

static recmap_status hand_damage(void *context, uint64_t offset, uint64_t length,
                                 const char *reason, recmap_error *error) {
    struct handed_over *handed = context;
    (void)offset, (void)length, (void)reason, (void)error;
    handed->size += sizeof(struct scan_damage);
    handed->damage_count++;
    if (handed->size > handed->size_max) handed->size_max = handed->size;
    return RECMAP_OK;
}

static recmap_status begin_nothing(void *context, const char *path, recmap_error *error) {
    (void)context, (void)path, (void)error;
    return RECMAP_OK;
}

static recmap_status end_nothing(void *context, const struct shard_end *end, recmap_error *error) {
    (void)context, (void)end, (void)error;
    return RECMAP_OK;
}

static struct handed_over hand_over_all(struct remote_reads *reads, unsigned threads) {
    struct handed_over handed = {0};
    struct extractor *nothing;
    recmap_progress totals = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(extractor_create(&nothing, NULL, NULL), NULL);
    const struct scan_sink sink = {&handed,     begin_nothing, hand_run,
                                   hand_damage, end_nothing,   NULL};
    const struct scan_options options = {.form.compression = RECMAP_COMPRESSION_NONE,
                                         .thread_count = threads,
                                         .on_bad_record = RECMAP_ON_BAD_RECORD_SKIP,
                                         .extractor = nothing,
                                         .open = remote_file_open,
                                         .open_context = reads,
                                         .totals = &totals};
    ASSERT_OK(scan_shards(shard_names(1), 1, &sink, &options, &error), &error);
    extractor_destroy(nothing);
    return handed;
}

/* With the real constants, too, all slots together keep no more than 256 MiB, if their arrays have
 * twice the room that they need: of the smallest records, and of the smallest damage. */
static void test_all_findings_are_bounded(void **state) {
    (void)state;
    enum { THREADS = 16, SLOTS = 2 * THREADS + 2, FRAME = 16, MANY = SLOTS << 17, FEW = 1 << 17 };
    const uint64_t limit = ((uint64_t)256 << 20) / 2 / SLOTS;
    struct buffer frame = BUFFER_INIT, file = BUFFER_INIT;
    struct remote_reads reads = {0};
    oracle_add_record(&frame, "", 0);
    assert_int_equal(frame.size, FRAME);
    for (int i = 0; i < MANY; i++) buffer_add(&file, frame.data, frame.size);
    file_write(shard_names(1)[0], file.data, file.size);
    struct handed_over handed = hand_over_all(&reads, THREADS);
    assert_int_equal(handed.record_count, MANY);
    assert_in_range(handed.size_max, limit / 2, limit + RECORD_FOUND_SIZE);
    /* All frames but the first have wrong checksums of their data. */
    for (int i = 1; i < FEW; i++) file.data[(size_t)i * FRAME + FRAME - 1] ^= 1;
    file_write(shard_names(1)[0], file.data, file.size);
    handed = hand_over_all(&reads, THREADS);
    assert_int_equal(handed.damage_count, FEW - 1);
    assert_int_equal(handed.record_count, MANY - FEW + 1);
    assert_in_range(handed.size_max, limit / 2, limit + sizeof(struct scan_damage));
    buffer_deinit(&frame);
    buffer_deinit(&file);
}

/* An error of the sink is returned, whatever becomes of requests meanwhile. */
static void test_errors_of_the_sink(void **state) {
    (void)state;
    static const recmap_status statuses[] = {RECMAP_IO, RECMAP_CANCELLED, RECMAP_NO_MEMORY};
    unsigned refused_late = 0;
    write_good_shards();
    for (unsigned i = 0; i < 84; i++) {
        struct remote_reads reads = {.failing_read = i % 4 ? 30 + i : 0};
        struct setting setting = {.threads = 1 + i % 4,
                                  .segment_size = i % 2 ? 1000 : 100,
                                  .reads = &reads,
                                  .skips_shards = true,
                                  .run_status = statuses[i % 3],
                                  .good_runs = i % 7};
        struct story story = scan(&setting, SHARDS);
        assert_true(story.was_refused || setting.good_runs);
        assert_int_equal(story.status, story.was_refused ? statuses[i % 3] : RECMAP_OK);
        if (story.was_refused) assert_string_equal(story.error.message, "the sink is full");
        refused_late += story.was_refused && setting.good_runs;
        story_deinit(&story);
    }
    assert_true(refused_late > 10);
}

/* Threads wait for the network most of the time, so there are four by default even on one core. */
static void test_four_threads_on_one_core(void **state) {
    (void)state;
    enum { THREADS = 4 };
    struct rng random = {5};
    struct buffer file = BUFFER_INIT;
    struct remote_reads reads = {.meeting = THREADS};
    struct setting setting = {.reads = &reads};
    cpu_set_t before, one;
    layout_add_records(&file, 1000, &random);
    for (size_t i = 0; i < THREADS; i++) file_write(shard_names(THREADS)[i], file.data, file.size);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct story story = scan(&setting, THREADS);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(story.status, RECMAP_OK);
    assert_true(atomic_load(&reads.has_met));
    story_deinit(&story);
    buffer_deinit(&file);
}

/* More is requested together while replies are slow, and only then. */
static void test_requests_grow_while_replies_are_slow(void **state) {
    (void)state;
    enum { MS = 1000000, RECORD = 1 << 20, COUNT = 20 };
    uint64_t calls[2];
    assert_int_equal(read_window_choose_size(0, 0), READ_AHEAD_MIN);
    assert_int_equal(read_window_choose_size(READ_AHEAD_MIN, 9 * MS), READ_AHEAD_MIN);
    assert_int_equal(read_window_choose_size(READ_AHEAD_MIN, 10 * MS), 2 * READ_AHEAD_MIN);
    assert_int_equal(read_window_choose_size(READ_AHEAD_MAX, 10 * MS), READ_AHEAD_MAX);
    struct buffer file = BUFFER_INIT;
    uint8_t *payload = calloc(1, RECORD);
    assert_non_null(payload);
    for (int i = 0; i < COUNT; i++) oracle_add_record(&file, payload, RECORD);
    for (size_t i = 0; i < 2; i++) file_write(shard_names(2)[i], file.data, file.size);
    for (size_t shards = 1; shards <= 2; shards++) {
        struct remote_reads reads = {.delay_ms = 20};
        struct setting setting = {.reads = &reads, .threads = 1};
        struct story story = scan(&setting, shards);
        assert_int_equal(story.status, RECMAP_OK);
        assert_in_range(atomic_load(&reads.together_max), 4 * READ_AHEAD_MIN, READ_AHEAD_MAX);
        assert_in_range(atomic_load(&reads.size), 1, shards * (file.size + DETECTION_SIZE));
        calls[shards - 1] = atomic_load(&reads.call_count);
        story_deinit(&story);
    }
    assert_true(calls[1] < 2 * calls[0]); /* the second shard begins with larger requests */
    free(payload);
    buffer_deinit(&file);
}

int main(void) {
    /* Copies of damaged shards: in memory, like the folders of tests. */
    setenv("TMPDIR", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", 0);
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(every_framing_is_scanned_remotely),
        TEST(long_claims_cost_little),
        TEST(a_record_larger_than_the_window),
        TEST(requests_that_fail),
        TEST(findings_are_bounded),
        TEST(all_findings_are_bounded),
        TEST(errors_of_the_sink),
        TEST(four_threads_on_one_core),
        TEST(requests_grow_while_replies_are_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
