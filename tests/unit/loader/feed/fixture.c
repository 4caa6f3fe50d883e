#include "unit/loader/feed/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/bytes.h"
#include "support/folder.h"
#include "support/index/build.h"

enum { HEAD = 8, FILLER_MAX = 53 };

static size_t payload(uint8_t *bytes, uint64_t number) {
    size_t size = HEAD + number * 7 % FILLER_MAX;
    store64(bytes, number);
    memset(bytes + HEAD, (int)(number * 31 & 0xff), size - HEAD);
    return size;
}

bool numbered_holds(const recmap_record *record, uint64_t number) {
    uint8_t due[HEAD + FILLER_MAX];
    size_t size = payload(due, number);
    return record->number == number && record->size == size && !memcmp(record->data, due, size);
}

static void write_shard(const char *name, uint64_t first, uint64_t end) {
    struct buffer shard = BUFFER_INIT;
    uint8_t bytes[HEAD + FILLER_MAX];
    for (uint64_t number = first; number < end; number++) {
        size_t size = payload(bytes, number);
        recmap_frame frame = recmap_frame_of(bytes, size);
        buffer_add(&shard, frame.header, sizeof frame.header);
        buffer_add(&shard, bytes, size);
        buffer_add(&shard, frame.footer, sizeof frame.footer);
    }
    file_write(name, shard.data, shard.size);
    buffer_deinit(&shard);
}

void numbered_write(size_t record_count, size_t shard_count) {
    const char *const *names = shard_names(shard_count);
    for (size_t i = 0; i < shard_count; i++) {
        size_t square = shard_count * shard_count;
        write_shard(names[i], record_count * i * i / square,
                    record_count * (i + 1) * (i + 1) / square);
    }
    index_build("set.rmx", NULL, names, shard_count);
}

recmap_dataset *numbered_open(size_t record_count, size_t shard_count,
                              const recmap_dataset_options *options) {
    numbered_write(record_count, shard_count);
    return dataset_open("set.rmx", options);
}

void numbered_flip(recmap_dataset *dataset, uint64_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_location place;
    recmap_shard_info shard;
    ASSERT_OK(recmap_dataset_locate(&place, dataset, number, 1, &error), &error);
    ASSERT_OK(recmap_dataset_get_shard(&shard, dataset, place.shard_index, &error), &error);
    struct buffer bytes = file_read(shard.path);
    uint8_t flipped = bytes.data[place.offset + 12] ^ 1;
    file_alter(shard.path, place.offset + 12, &flipped, 1);
    buffer_deinit(&bytes);
}

static int64_t *make_labels(size_t n, uint64_t seed) {
    struct rng random = {seed};
    int64_t *labels = must_realloc(NULL, (n + 1) * sizeof *labels);
    for (size_t i = 0; i < n; i++) labels[i] = (int64_t)rng_below(&random, 5);
    return labels;
}

static recmap_order *make_mixture(size_t n, uint64_t seed, recmap_error *error) {
    recmap_order *sources[2], *order;
    double weights[2] = {0.7, 0.3};
    ASSERT_OK(recmap_order_shuffled(&sources[0], n - n / 3, seed, error), error);
    ASSERT_OK(recmap_order_windowed(&sources[1], n / 3, 4, 2, seed, error), error);
    ASSERT_OK(recmap_order_mixture(&order, sources, weights, 2, RECMAP_STOP_LAST, error), error);
    recmap_order_release(sources[0]);
    recmap_order_release(sources[1]);
    return order;
}

static recmap_order *make_weighted(size_t n, uint64_t seed, recmap_error *error) {
    recmap_order *order;
    double *weights = must_realloc(NULL, n * sizeof *weights);
    for (size_t i = 0; i < n; i++) weights[i] = (double)(i % 7);
    ASSERT_OK(recmap_order_weighted(&order, weights, n, seed, n + 3, error), error);
    free(weights);
    return order;
}

/* Orders over what a label, a length or nothing makes of records. */
static recmap_order *make_grouped(int kind, size_t n, uint64_t seed, recmap_error *error) {
    recmap_order *order;
    int64_t *labels = make_labels(n, seed), bounds[2] = {2, 4};
    recmap_bucket_size size = {0, 16};
    if (kind == 0) ASSERT_OK(recmap_order_grouped(&order, labels, n, 6, seed, error), error);
    else if (kind == 1)
        ASSERT_OK(recmap_order_bucketed(&order, labels, n, bounds, 2, size, seed, error), error);
    else ASSERT_OK(recmap_order_stratified(&order, labels, n, 9, seed, error), error);
    free(labels);
    return order;
}

static recmap_order *make_view(int kind, size_t n, uint64_t seed, recmap_error *error) {
    recmap_order *base, *order;
    uint64_t half = n / 2 + 1;
    uint64_t *numbers = must_realloc(NULL, half * sizeof *numbers);
    uint8_t *mask = must_realloc(NULL, n);
    for (uint64_t i = 0; i < half; i++) numbers[i] = i * 3 % n;
    for (size_t i = 0; i < n; i++) mask[i] = i % 2 == 0 || i == n - 1;
    uint64_t count = kind == 2 ? (n + 1) / 2 + (n % 2 == 0) : half;
    ASSERT_OK(recmap_order_shuffled(&base, count, seed, error), error);
    if (kind == 0)
        ASSERT_OK(recmap_order_view_range(&order, base, half - 1, half, -1, error), error);
    else if (kind == 1)
        ASSERT_OK(recmap_order_view_list(&order, base, numbers, half, error), error);
    else ASSERT_OK(recmap_order_view_mask(&order, base, mask, n, error), error);
    recmap_order_release(base);
    free(numbers);
    free(mask);
    return order;
}

recmap_order *order_of_kind(int kind, size_t n, uint64_t seed) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    switch (kind) {
    case 0: ASSERT_OK(recmap_order_shuffled(&order, n, seed, &error), &error); break;
    case 1: ASSERT_OK(recmap_order_sequential(&order, n, &error), &error); break;
    case 2: ASSERT_OK(recmap_order_windowed(&order, n, 5, 3, seed, &error), &error); break;
    case 3:
        ASSERT_OK(recmap_order_with_replacement(&order, n, seed, n + n / 2, &error), &error);
        break;
    case 4: return make_weighted(n, seed, &error);
    case 5: return make_mixture(n, seed, &error);
    case 6:
    case 7:
    case 8: return make_grouped(kind - 6, n, seed, &error);
    default: return make_view(kind - 9, n, seed, &error);
    }
    return order;
}

void assert_batch(const recmap_batch *batch, const uint64_t *numbers, size_t count) {
    assert_non_null(batch);
    assert_int_equal(recmap_batch_count(batch), count);
    for (size_t i = 0; i < count; i++)
        assert_true(numbered_holds(&recmap_batch_records(batch)[i], numbers[i]));
}

recmap_loader *loader_open(recmap_dataset *dataset, recmap_order *order,
                           const recmap_loader_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader;
    ASSERT_OK(recmap_loader_create(&loader, dataset, order, options, &error), &error);
    return loader;
}

void loader_close(recmap_loader *loader, recmap_order *order, recmap_dataset *dataset) {
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

void next_batch(recmap_batch **batch, recmap_loader *loader) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_loader_next(batch, loader, &error), &error);
}

void number_list_add(struct number_list *list, const uint64_t *numbers, size_t count) {
    if (list->count + count > list->capacity) {
        list->capacity = (list->count + count) * 2;
        list->numbers = must_realloc(list->numbers, list->capacity * sizeof *numbers);
    }
    if (count) memcpy(list->numbers + list->count, numbers, count * sizeof *numbers);
    list->count += count;
}

size_t take_steps(struct number_list *list, recmap_loader *loader, size_t steps) {
    recmap_batch *batch = NULL;
    size_t taken = 0;
    for (; taken < steps; taken++) {
        next_batch(&batch, loader);
        if (!batch) break;
        for (size_t i = 0; i < recmap_batch_count(batch); i++) {
            const recmap_record *record = &recmap_batch_records(batch)[i];
            assert_true(numbered_holds(record, record->number));
            number_list_add(list, &record->number, 1);
        }
    }
    recmap_batch_destroy(batch);
    return taken;
}

void assert_stands_at(const recmap_loader *loader, uint64_t epoch, uint64_t position) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t told_epoch, told_position;
    ASSERT_OK(recmap_loader_tell(&told_epoch, &told_position, loader, &error), &error);
    assert_int_equal(told_epoch, epoch);
    assert_int_equal(told_position, position);
    recmap_state *state;
    ASSERT_OK(recmap_loader_save(&state, loader, &error), &error);
    assert_int_equal(recmap_state_get_info(state)->epoch, epoch);
    assert_int_equal(recmap_state_get_info(state)->position, position);
    recmap_state_destroy(state);
}
