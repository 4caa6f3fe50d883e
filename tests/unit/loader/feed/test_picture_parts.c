/* Batches of pictures are divided between threads, whatever the pictures belong to; this does not
 * change them; and their pixels take no more memory than the limit. A decoder of the test's own
 * knows which pictures are decoded at the same time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <recmap/example_builder.h>
#include <recmap/image.h>
#include <recmap/image_decoder.h>

#include "loader/feed/loader.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "unit/loader/feed/fixture.h"

enum { WAIT_SECONDS = 10, WAIT_STEPS = WAIT_SECONDS * 1000, STEP_US = 1000 };

/* ---- A decoder of squares: "SQ", a side of 16 bits, and the first sample, then bytes without a
 * meaning. The sample 255 is damage. */

enum { HEADER_SIZE = 5, BAD_SAMPLE = 255, SIDE_MAX = 2048 };

/* What happens inside the decoder. */
struct watch {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned awaited; /* pictures wait until this many are decoded at the same time; 0: none */
    unsigned inside;
    bool is_met;  /* they were */
    bool is_late; /* they were not, in time */
    size_t started;
    size_t limit; /* on `started`; 0: none */
    bool is_exceeded;
};

static struct watch watch = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER};

static void watch_reset(unsigned awaited, size_t limit) {
    pthread_mutex_lock(&watch.lock);
    watch.awaited = awaited;
    watch.limit = limit;
    watch.inside = 0;
    watch.started = 0;
    watch.is_met = watch.is_late = watch.is_exceeded = false;
    pthread_mutex_unlock(&watch.lock);
}

static bool watch_has(const bool *member) {
    pthread_mutex_lock(&watch.lock);
    bool value = *member;
    pthread_mutex_unlock(&watch.lock);
    return value;
}

/* The first picture that has waited too long lets all others pass. */
static void watch_enter(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&watch.lock);
    watch.started++;
    if (watch.limit && watch.started > watch.limit) watch.is_exceeded = true;
    if (++watch.inside >= watch.awaited && !watch.is_late) watch.is_met = true;
    if (watch.is_met) pthread_cond_broadcast(&watch.changed);
    while (!watch.is_met && !watch.is_late)
        watch.is_late = pthread_cond_timedwait(&watch.changed, &watch.lock, &until) != 0;
    watch.inside--;
    pthread_mutex_unlock(&watch.lock);
}

static int recognizes(const uint8_t *data, size_t size, void *context) {
    (void)context;
    return size >= 2 && !memcmp(data, "SQ", 2);
}

static recmap_status describe(recmap_image_info *info, const uint8_t *data, size_t size,
                              void *context) {
    (void)context;
    if (size < HEADER_SIZE) return RECMAP_FEATURE;
    info->width = info->height = (uint32_t)(data[2] << 8 | data[3]);
    info->mode = "RGB";
    return RECMAP_OK;
}

static recmap_status decode(recmap_image_rows *rows, const recmap_region *wanted,
                            const uint8_t *data, size_t size, void *context) {
    static _Thread_local uint8_t row[3 * SIDE_MAX];
    const uint32_t side = (uint32_t)(data[2] << 8 | data[3]);
    int status = 0;
    (void)size;
    (void)context;
    watch_enter();
    if (data[4] == BAD_SAMPLE) return (recmap_status)recmap_image_rows_fail(rows, "it is bad");
    for (uint32_t y = 0; !status && y < wanted->y + wanted->height; y++) {
        for (uint32_t x = 0; x < 3 * side; x++) row[x] = (uint8_t)(data[4] + 5 * y + x);
        status = recmap_image_rows_put(rows, y, row);
    }
    return (recmap_status)status;
}

static const recmap_image_decoder squares = {.version = RECMAP_IMAGE_DECODER_VERSION,
                                             .name = "squares",
                                             .recognizes = recognizes,
                                             .describe = describe,
                                             .decode = decode};

/* ---- Data sets of squares. */

struct layout {
    const char *name;
    recmap_feature_kind kind;
    uint64_t record_count;
    uint64_t list_count;  /* pictures in a record; of VAR_LEN, up to this many */
    uint64_t window_size; /* of SLICED: a row has this many pictures */
    size_t picture_bytes; /* encoded */
    uint32_t side;
    uint32_t pixels_side; /* of the columns; 0: as the picture */
};

static const struct layout layouts[] = {
    {"pictures", RECMAP_FEATURE_IMAGE, 64, 1, 0, HEADER_SIZE, 12, 8},
    {"large pictures", RECMAP_FEATURE_IMAGE, 8, 1, 0, 100000, 12, 8},
    {"pictures that keep their size", RECMAP_FEATURE_IMAGE, 64, 1, 0, HEADER_SIZE, 12, 0},
    {"fixed lists", RECMAP_FEATURE_FIXED_LEN, 8, 8, 0, HEADER_SIZE, 12, 8},
    {"padded lists", RECMAP_FEATURE_FIXED_LEN_SEQUENCE, 8, 8, 0, 40000, 12, 8},
    {"lists of any length", RECMAP_FEATURE_VAR_LEN, 8, 8, 0, 40000, 12, 8},
    {"windows", RECMAP_FEATURE_SLICED, 4, 16, 6, HEADER_SIZE, 12, 8},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static bool is_any_length(const struct layout *layout) {
    return layout->kind == RECMAP_FEATURE_VAR_LEN ||
           layout->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
}

static uint64_t list_count_of(const struct layout *layout, uint64_t number) {
    return is_any_length(layout) ? layout->list_count - number % 3 : layout->list_count;
}

/* With bad pictures, a fifth of the records has one. */
static void add_record(struct buffer *shard, const struct layout *layout, uint64_t number,
                       bool has_bad) {
    recmap_example_builder *builder;
    recmap_bytes values[16];
    const uint8_t *data;
    size_t size;
    const uint64_t count = list_count_of(layout, number);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *bytes = calloc(1, layout->picture_bytes);
        assert_non_null(bytes);
        const bool is_bad = has_bad && number % 5 == 3 && i == count - 1;
        const uint8_t header[] = {'S', 'Q', (uint8_t)(layout->side >> 8), (uint8_t)layout->side,
                                  is_bad ? BAD_SAMPLE : (uint8_t)((number * 16 + i) % BAD_SAMPLE)};
        memcpy(bytes, header, sizeof header);
        values[i] = (recmap_bytes){bytes, layout->picture_bytes};
    }
    ASSERT_OK(recmap_example_builder_create(&builder, NULL), NULL);
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    ASSERT_OK(recmap_example_builder_add_bytes(builder, "image", values, count, NULL), NULL);
    ASSERT_OK(recmap_example_builder_finish(&data, &size, builder, NULL), NULL);
    recmap_frame frame = recmap_frame_of(data, size);
    buffer_add(shard, frame.header, sizeof frame.header);
    buffer_add(shard, data, size);
    buffer_add(shard, frame.footer, sizeof frame.footer);
    recmap_example_builder_destroy(builder);
    for (uint64_t i = 0; i < count; i++) free((void *)(uintptr_t)values[i].data);
}

static recmap_dataset *open_squares(const struct layout *layout, bool has_bad) {
    struct buffer shard = BUFFER_INIT;
    for (uint64_t i = 0; i < layout->record_count; i++) add_record(&shard, layout, i, has_bad);
    index_bytes("set.rmx", NULL, "shard", &shard);
    buffer_deinit(&shard);
    return dataset_open("set.rmx", NULL);
}

static recmap_order *make_order(const struct layout *layout) {
    recmap_order *order;
    if (layout->kind != RECMAP_FEATURE_SLICED) {
        ASSERT_OK(recmap_order_shuffled(&order, layout->record_count, 3, NULL), NULL);
        return order;
    }
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    recmap_counts *counts;
    uint64_t lengths[64];
    for (uint64_t i = 0; i < layout->record_count; i++) lengths[i] = layout->list_count;
    ASSERT_OK(recmap_counts_create(&counts, lengths, sizeof *lengths, layout->record_count, NULL),
              NULL);
    options.size = layout->window_size;
    options.stride = layout->window_size > 4 ? 3 : layout->window_size;
    ASSERT_OK(recmap_order_windows(&order, counts, &options, NULL), NULL);
    recmap_counts_release(counts);
    return order;
}

static recmap_parser *make_parser(const struct layout *layout) {
    const recmap_image image = {.version = RECMAP_IMAGE_VERSION,
                                .height = layout->pixels_side,
                                .width = layout->pixels_side,
                                .mode = RECMAP_IMAGE_RGB,
                                .crop = layout->pixels_side && layout->pixels_side < layout->side
                                            ? RECMAP_CROP_RANDOM_RESIZED
                                            : RECMAP_CROP_NONE,
                                .max_pixels = 1 << 26,
                                .decoders = &squares,
                                .decoder_count = 1};
    const recmap_feature feature = {.name = "image",
                                    .kind = layout->kind,
                                    .element = RECMAP_ELEMENT_UINT8,
                                    .shape = &layout->list_count,
                                    .dimension_count = layout->kind == RECMAP_FEATURE_FIXED_LEN,
                                    .image = &image};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser;
    ASSERT_OK(recmap_parser_create(&parser, &feature, 1, &error), &error);
    return parser;
}

/* A data set, and a loader of it that reads no further than one epoch. */
struct squares_loader {
    recmap_dataset *dataset;
    recmap_order *order;
    recmap_loader *loader;
};

static struct squares_loader open_loader(const struct layout *layout, bool has_bad,
                                         recmap_loader_options options) {
    struct squares_loader squares_loader = {open_squares(layout, has_bad), make_order(layout),
                                            NULL};
    options.batches_ahead_epoch_limit = 1;
    options.parser = make_parser(layout);
    squares_loader.loader = loader_open(squares_loader.dataset, squares_loader.order, &options);
    recmap_parser_release(options.parser);
    return squares_loader;
}

static void close_loader(struct squares_loader *squares_loader) {
    loader_close(squares_loader->loader, squares_loader->order, squares_loader->dataset);
}

/* The whole epoch is one batch, so that there is nothing else to decode. */
static recmap_loader_options options_of(unsigned threads, recmap_on_bad_record policy) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.thread_count = threads;
    options.batch_size = 64;
    options.batches_ahead = 1;
    options.on_bad_record = policy;
    options.draw_seed = 5;
    return options;
}

/* ---- Several threads. */

static void test_two_threads_decode_one_batch(void **unused) {
    (void)unused;
    for (size_t i = 0; i < LAYOUTS; i++) {
        recmap_batch *batch = NULL;
        watch_reset(2, 0);
        struct squares_loader loader =
            open_loader(&layouts[i], false, options_of(2, RECMAP_ON_BAD_RECORD_ERROR));
        next_batch(&batch, loader.loader);
        assert_int_equal(recmap_columns_row_count(recmap_batch_columns(batch)),
                         recmap_order_count(loader.order));
        if (!watch_has(&watch.is_met))
            fail_msg("%s: one thread decoded the batch", layouts[i].name);
        recmap_batch_destroy(batch);
        close_loader(&loader);
    }
}

/* Everything that the loader says about its only batch, as bytes. */
static void say_batch(struct buffer *said, const recmap_batch *batch) {
    const recmap_column *column = recmap_columns_get(recmap_batch_columns(batch), 0);
    const size_t count = recmap_batch_count(batch), rows = (size_t)column->row_count;
    for (size_t i = 0; i < count; i++)
        buffer_add(said, &recmap_batch_records(batch)[i].number, sizeof(uint64_t));
    buffer_add(said, column->values, (size_t)column->value_count);
    buffer_add(said, column->shape, column->dimension_count * sizeof *column->shape);
    if (column->offsets_count)
        buffer_add(said, column->offsets[0], (rows + 1) * sizeof **column->offsets);
    if (column->picture_shapes)
        buffer_add(said, column->picture_shapes, 3 * rows * sizeof *column->picture_shapes);
}

static struct buffer say_epoch(const struct layout *layout, unsigned threads,
                               recmap_on_bad_record policy) {
    enum { SKIPPED_MAX = 64 };
    struct buffer said = BUFFER_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_skipped skipped[SKIPPED_MAX];
    recmap_batch *batch = NULL;
    size_t count;
    watch_reset(0, 0);
    struct squares_loader loader = open_loader(layout, true, options_of(threads, policy));
    recmap_status status = recmap_loader_next(&batch, loader.loader, &error);
    buffer_add(&said, &status, sizeof status);
    if (status == RECMAP_OK) say_batch(&said, batch);
    else buffer_add(&said, error.message, strlen(error.message));
    buffer_add(&said, &error.record, sizeof error.record);
    ASSERT_OK(recmap_loader_get_skipped(skipped, SKIPPED_MAX, &count, loader.loader, 0, &error),
              &error);
    buffer_add(&said, skipped, count * sizeof *skipped);
    recmap_batch_destroy(batch);
    close_loader(&loader);
    return said;
}

static void test_division_changes_nothing(void **unused) {
    (void)unused;
    for (size_t i = 0; i < LAYOUTS; i++)
        for (int policy = 0; policy <= RECMAP_ON_BAD_RECORD_SUBSTITUTE; policy++) {
            struct buffer due = say_epoch(&layouts[i], 1, (recmap_on_bad_record)policy);
            for (unsigned threads = 2; threads <= 4; threads += 2) {
                struct buffer said = say_epoch(&layouts[i], threads, (recmap_on_bad_record)policy);
                if (said.size != due.size || memcmp(said.data, due.data, due.size) != 0)
                    fail_msg("%s, policy %d: %u threads give another batch", layouts[i].name,
                             policy, threads);
                buffer_deinit(&said);
            }
            buffer_deinit(&due);
        }
}

/* ---- Memory. */

/* Memory of the columns: nearly all of it is for pixels. */
struct account {
    atomic_size_t held, most;
};

static void *account_allocate(size_t size, void *context) {
    struct account *account = context;
    void *data = NULL;
    if (posix_memalign(&data, 64, size)) return NULL;
    size_t held = atomic_fetch_add(&account->held, size) + size;
    size_t most = account->most;
    while (held > most && !atomic_compare_exchange_weak(&account->most, &most, held)) continue;
    return data;
}

static void account_release(void *memory, size_t size, void *context) {
    struct account *account = context;
    atomic_fetch_sub(&account->held, size);
    free(memory);
}

/* Four pictures of 1,200 x 1,200 in a batch: 64 MiB hold three such batches. */
enum { LARGE = 1200, BATCH_PICTURES = 4, BATCH_BYTES = BATCH_PICTURES * LARGE * LARGE * 3 };

static const struct layout large_layouts[] = {
    {"large pixels", RECMAP_FEATURE_IMAGE, 64, 1, 0, HEADER_SIZE, 6, LARGE},
    {"large pictures that keep their size", RECMAP_FEATURE_IMAGE, 64, 1, 0, HEADER_SIZE, LARGE, 0},
    {"lists of large pixels", RECMAP_FEATURE_VAR_LEN, 48, 6, 0, HEADER_SIZE, 6, LARGE},
    {"windows of large pixels", RECMAP_FEATURE_SLICED, 16, 16, 4, HEADER_SIZE, 6, LARGE},
};

static size_t count_started(void) {
    pthread_mutex_lock(&watch.lock);
    size_t started = watch.started;
    pthread_mutex_unlock(&watch.lock);
    return started;
}

static void set_limit(size_t limit) {
    pthread_mutex_lock(&watch.lock);
    watch.limit = limit;
    pthread_mutex_unlock(&watch.lock);
}

static void wait_for_pictures(size_t count) {
    for (int i = 0; count_started() < count; i++) {
        if (i == WAIT_STEPS) fail_msg("%zu pictures instead of %zu", count_started(), count);
        usleep(STEP_US);
    }
}

/* A batch of a list has one record, of four to six pictures. Buffers grow to twice their size. */
static void check_large(const struct layout *layout, unsigned threads, unsigned batches_ahead) {
    enum { AHEAD = PIXELS_AHEAD / BATCH_BYTES, STEPS = 7 };
    const bool has_lists = layout->kind == RECMAP_FEATURE_VAR_LEN;
    const size_t pictures_max = has_lists ? layout->list_count : BATCH_PICTURES;
    const size_t most = has_lists ? (AHEAD + 2) * 2 * (size_t)BATCH_BYTES
                                  : PIXELS_AHEAD + 2 * (size_t)BATCH_BYTES + (1 << 20);
    recmap_loader_options options = options_of(threads, RECMAP_ON_BAD_RECORD_ERROR);
    struct account account = {.held = 0};
    recmap_batch *batch = NULL;
    options.batch_size = layout->kind == RECMAP_FEATURE_IMAGE ? BATCH_PICTURES : 1;
    options.batches_ahead = batches_ahead;
    options.allocator = (recmap_allocator){account_allocate, account_release, &account};
    watch_reset(0, (1 + AHEAD) * pictures_max);
    struct squares_loader loader = open_loader(layout, false, options);
    for (size_t taken = 1; taken <= STEPS; taken++) {
        set_limit((taken + AHEAD) * pictures_max);
        next_batch(&batch, loader.loader);
        if (!has_lists) wait_for_pictures((taken + AHEAD) * pictures_max);
    }
    if (watch_has(&watch.is_exceeded))
        fail_msg("%s, %u threads: decoded too far", layout->name, threads);
    recmap_batch_destroy(batch);
    close_loader(&loader);
    /* During a call, the caller has the batch that it gives back and the one that it gets. */
    if (account.most > most)
        fail_msg("%s, %u threads: %zu bytes instead of %zu", layout->name, threads,
                 (size_t)account.most, most);
    assert_int_equal(account.held, 0);
}

static void test_pixels_ahead_are_limited(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof large_layouts / sizeof *large_layouts; i++) {
        check_large(&large_layouts[i], 1, 0);
        check_large(&large_layouts[i], 3, 12);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(two_threads_decode_one_batch),
        TEST(division_changes_nothing),
        TEST(pixels_ahead_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
