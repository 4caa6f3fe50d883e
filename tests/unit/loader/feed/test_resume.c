/* Interrupted runs: saved anywhere, loaded into any other world, they give each record of the epoch
 * once, in the one global order. */
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/sanitizers.h"
#include "unit/loader/feed/fixture.h"

enum { WORLD_MAX = 64 };

/* The loaders of all ranks. */
struct world {
    recmap_loader *loaders[WORLD_MAX];
    unsigned size;
    recmap_loader_options options;
};

static void world_init(struct world *world, recmap_dataset *dataset, recmap_order *order,
                       const recmap_loader_options *options) {
    world->size = options->world_size;
    world->options = *options;
    for (unsigned rank = 0; rank < world->size; rank++) {
        world->options.rank = rank;
        world->loaders[rank] = loader_open(dataset, order, &world->options);
    }
}

static void world_deinit(struct world *world) {
    for (unsigned rank = 0; rank < world->size; rank++) recmap_loader_destroy(world->loaders[rank]);
}

static recmap_state *save(const recmap_loader *loader) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_state *state;
    ASSERT_OK(recmap_loader_save(&state, loader, &error), &error);
    return state;
}

static recmap_text json_of(const recmap_state *state) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text json = RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_state_to_json(&json, state, &error), &error);
    return json;
}

/* The state as it comes back from a checkpoint. */
static recmap_state *stored(recmap_state *state) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = json_of(state);
    recmap_state *back;
    ASSERT_OK(recmap_state_from_json(&back, text.data, text.size, &error), &error);
    recmap_text_deinit(&text);
    recmap_state_destroy(state);
    return back;
}

/* Every rank says the same. */
static recmap_state *world_save(const struct world *saved) {
    recmap_state *state = save(saved->loaders[0]);
    recmap_text bytes = json_of(state);
    for (unsigned rank = 1; rank < saved->size; rank++) {
        recmap_state *other = save(saved->loaders[rank]);
        recmap_text same = json_of(other);
        assert_int_equal(same.size, bytes.size);
        assert_memory_equal(same.data, bytes.data, bytes.size);
        recmap_text_deinit(&same);
        recmap_state_destroy(other);
    }
    recmap_text_deinit(&bytes);
    return stored(state);
}

static void world_load(struct world *loaded, const recmap_state *state) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (unsigned rank = 0; rank < loaded->size; rank++)
        ASSERT_OK(recmap_loader_load(loaded->loaders[rank], state, &error), &error);
}

/* One step of all ranks, in the order of ranks. False at the end of the epoch. */
static bool world_step(struct number_list *stream, struct world *stepped) {
    unsigned ended = 0;
    for (unsigned rank = 0; rank < stepped->size; rank++)
        ended += !take_steps(stream, stepped->loaders[rank], 1);
    assert_true(ended == 0 || ended == stepped->size);
    return !ended;
}

static void assert_stream(const struct number_list *stream, const recmap_order *order,
                          uint64_t epochs) {
    uint64_t count = recmap_order_count(order);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(stream->count, count * epochs);
    uint64_t *due = must_realloc(NULL, (count + 1) * sizeof *due);
    for (uint64_t epoch = 0; epoch < epochs; epoch++) {
        ASSERT_OK(recmap_order_read(due, order, epoch, 0, count, &error), &error);
        assert_memory_equal(stream->numbers + epoch * count, due, count * sizeof *due);
    }
    free(due);
}

/* A run of two epochs in pieces: each piece another world, other batches, other threads. */
static void live_through(recmap_dataset *dataset, recmap_order *order, struct rng *random) {
    enum { EPOCHS = 2 };
    struct number_list stream = {NULL, 0, 0};
    recmap_state *state = NULL;
    for (uint64_t epoch = 0; epoch < EPOCHS;) {
        recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
        options.world_size = (uint32_t)rng_below(random, 4) + 1;
        options.batch_size = rng_below(random, rng_one_in(random, 4) ? 40 : 9) + 1;
        options.thread_count = (unsigned)rng_below(random, 3) + 1;
        options.batches_ahead = (unsigned)rng_below(random, 4);
        struct world piece;
        world_init(&piece, dataset, order, &options);
        if (state) world_load(&piece, state);
        if (state && rng_one_in(random, 3)) world_load(&piece, state);
        recmap_state_destroy(state);
        for (uint64_t steps = rng_below(random, 12); steps && epoch < EPOCHS; steps--)
            if (!world_step(&stream, &piece)) epoch++;
        state = world_save(&piece);
        /* Saved at the end of an epoch, the next run begins the next. */
        epoch = recmap_state_get_info(state)->epoch;
        world_deinit(&piece);
    }
    recmap_state_destroy(state);
    assert_stream(&stream, order, EPOCHS);
    free(stream.numbers);
}

static void test_random_histories_deliver_each_position_once(void **unused) {
    (void)unused;
    uint64_t histories = is_long() ? 10000 : has_thread_sanitizer ? 100 : 1000;
    recmap_dataset *dataset = numbered_open(200, 4, NULL);
    for (uint64_t seed = 0; seed < histories; seed++) {
        struct rng random = {seed};
        int kind = (int)(seed % ORDER_KINDS);
        size_t n = kind < 3 && rng_one_in(&random, 5) ? rng_below(&random, 8) + 1
                                                      : rng_below(&random, 170) + 12;
        recmap_order *order = order_of_kind(kind, n, rng_next(&random));
        live_through(dataset, order, &random);
        recmap_order_release(order);
    }
    recmap_dataset_close(dataset);
}

/* The state after each step, loaded into a fresh loader, is there at once, and the rest is the
 * same; also from the very end. */
static void test_a_state_of_every_step_resumes(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(60, 3, NULL);
    for (int kind = 0; kind < ORDER_KINDS; kind++) {
        recmap_order *order = order_of_kind(kind, 60, 4);
        recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
        options.batch_size = 7;
        options.thread_count = 2;
        recmap_loader *whole = loader_open(dataset, order, &options);
        struct number_list all = {NULL, 0, 0};
        bool more = true;
        for (size_t step = 0; more; step++) {
            size_t before = all.count;
            recmap_state *state = stored(save(whole));
            recmap_loader *resumed = loader_open(dataset, order, &options);
            recmap_error error = RECMAP_ERROR_INIT;
            ASSERT_OK(recmap_loader_load(resumed, state, &error), &error);
            const recmap_state_info *info = recmap_state_get_info(state);
            assert_stands_at(resumed, info->epoch, info->position);
            if (info->epoch == 0) {
                struct number_list rest = {NULL, 0, 0};
                take_steps(&rest, resumed, SIZE_MAX);
                assert_int_equal(before + rest.count, recmap_order_count(order));
                struct number_list joined = {NULL, 0, 0};
                number_list_add(&joined, all.numbers, before);
                number_list_add(&joined, rest.numbers, rest.count);
                assert_stream(&joined, order, 1);
                free(joined.numbers);
                free(rest.numbers);
            }
            recmap_loader_destroy(resumed);
            recmap_state_destroy(state);
            more = take_steps(&all, whole, 1);
        }
        free(all.numbers);
        recmap_loader_destroy(whole);
        recmap_order_release(order);
    }
    recmap_dataset_close(dataset);
}

/* 10 batches, restored at 0, 3 and 8, with 1 and 10 threads; twice in a row; save and load without
 * a step between do not drift. */
static void test_saving_and_loading_does_not_drift(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(100, 2, NULL);
    recmap_order *order = order_of_kind(0, 100, 9);
    for (unsigned threads = 0; threads <= 10; threads += threads ? 9 : 1)
        for (size_t at = 0; at <= 10; at += at == 3 ? 5 : at == 8 ? 2 : 3) {
            recmap_error error = RECMAP_ERROR_INIT;
            recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
            options.batch_size = 10;
            options.thread_count = threads;
            recmap_loader *loader = loader_open(dataset, order, &options);
            struct number_list list = {NULL, 0, 0};
            assert_int_equal(take_steps(&list, loader, at), at);
            recmap_state *state = save(loader);
            take_steps(&list, loader, 2);
            list.count = at * 10;
            for (int i = 0; i < 4; i++) {
                ASSERT_OK(recmap_loader_load(loader, state, &error), &error);
                recmap_state_destroy(state);
                state = save(loader);
                if (i == 1) { /* another round in the middle */
                    struct number_list lost = {NULL, 0, 0};
                    take_steps(&lost, loader, 3);
                    free(lost.numbers);
                }
            }
            if (at < 10) take_steps(&list, loader, SIZE_MAX);
            assert_stream(&list, order, 1);
            recmap_state_destroy(state);
            recmap_loader_destroy(loader);
            free(list.numbers);
        }
    recmap_order_release(order);
    recmap_dataset_close(dataset);
}

/* Runs some steps on one number of ranks, saves, and resumes on another number of ranks with
 * another batch size. The two parts together must be the epoch, each record once. */
static void grow(recmap_dataset *dataset, recmap_order *order, unsigned world_before,
                 uint64_t batch, size_t steps, unsigned world_after, uint64_t batch_after) {
    struct number_list stream = {NULL, 0, 0};
    struct world first, second;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.thread_count = 1;
    options.world_size = world_before;
    options.batch_size = batch / world_before;
    world_init(&first, dataset, order, &options);
    for (size_t i = 0; i < steps; i++) assert_true(world_step(&stream, &first));
    recmap_state *state = world_save(&first);
    assert_int_equal(recmap_state_get_info(state)->position, steps * batch);
    world_deinit(&first);
    options.world_size = world_after;
    options.batch_size = batch_after / world_after;
    world_init(&second, dataset, order, &options);
    world_load(&second, state);
    while (world_step(&stream, &second)) continue;
    assert_stream(&stream, order, 1);
    world_deinit(&second);
    recmap_state_destroy(state);
    free(stream.numbers);
}

/* Other numbers of hosts, and other batches over all of them. */
static void test_the_number_of_ranks_may_change(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(1 << 16, 8, NULL);
    recmap_order *small = order_of_kind(0, 1024, 42), *large = order_of_kind(0, 1 << 16, 42);
    recmap_order *odd = order_of_kind(0, 1021, 42);
    grow(dataset, small, 32, 64, 7, 16, 32);
    grow(dataset, large, 8, 256, 5, 4, 128);
    grow(dataset, large, 8, 128, 5, 64, 128);
    grow(dataset, large, 4, 64, 5, 6, 96);
    grow(dataset, odd, 4, 64, 7, 6, 90);   /* batches that do not divide, a last one not full */
    grow(dataset, odd, 3, 300, 3, 7, 707); /* one step, which deals what is left */
    recmap_order_release(odd);
    recmap_order_release(small);
    recmap_order_release(large);
    recmap_dataset_close(dataset);
}

static void assert_refused(recmap_loader *loader, const recmap_state *state, const char *due) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_loader_load(loader, state, &error), RECMAP_MISMATCH);
    if (!strstr(error.message, due)) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, due));
    assert_stands_at(loader, 0, 20);
}

/* States of other data sets, sizes, seeds and kinds are refused, and the loader continues
 * unchanged. */
static void test_states_of_other_runs_are_refused(void **unused) {
    (void)unused;
    recmap_dataset *dataset = numbered_open(100, 2, NULL);
    recmap_order *order = order_of_kind(0, 100, 9);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 10;
    recmap_loader *loader = loader_open(dataset, order, &options);
    struct number_list list = {NULL, 0, 0};
    take_steps(&list, loader, 2);
    recmap_state *saved = save(loader), *state;
    const recmap_state_info here = *recmap_state_get_info(saved);
    recmap_state_info info;
#define REFUSED(change, due)                                                                       \
    do {                                                                                           \
        info = here;                                                                               \
        change;                                                                                    \
        assert_int_equal(recmap_state_create(&state, &info, NULL), RECMAP_OK);                     \
        assert_refused(loader, state, due);                                                        \
        recmap_state_destroy(state);                                                               \
    } while (0)
    REFUSED(info.fingerprint.bytes[3] ^= 1, "another data set: the state has 100 records");
    REFUSED(info.record_count = 101, "the state has 101, the loader 100");
    REFUSED(info.position_count = info.position = 5000,
            "another number of positions: the state has 5000, the loader 100");
    REFUSED(info.order = "{\"kind\":\"shuffled\",\"n\":100,\"seed\":10}",
            "another seed: the state has 10, the loader 9");
    REFUSED(info.order = "{\"kind\":\"sequential\",\"n\":100}",
            "another kind of order: the state has \"sequential\"");
#undef REFUSED
    take_steps(&list, loader, SIZE_MAX);
    assert_stream(&list, order, 1);
    recmap_state_destroy(saved);
    loader_close(loader, order, dataset);
    free(list.numbers);
}

/* Seeks to random positions and records, and reads a batch after most of them, so that seeks also
 * meet workers that have not filled anything yet. Refused seeks leave the position as it was. */
static void test_seeking_reaches_any_position(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(100, 2, NULL);
    recmap_order *order = order_of_kind(0, 100, 9), *drawn = order_of_kind(3, 100, 9);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 8;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_batch *batch = NULL;
    struct rng random = {1};
    uint64_t due[8];
    for (int i = 0; i < 300; i++) {
        uint64_t epoch = rng_skewed(&random, 40), position = rng_below(&random, 101);
        size_t count = position + 8 > 100 ? (size_t)(100 - position) : 8;
        if (i % 3) {
            ASSERT_OK(recmap_loader_seek(loader, epoch, position, &error), &error);
        } else {
            uint64_t number = rng_below(&random, 100);
            ASSERT_OK(recmap_order_position_of(&position, order, epoch, number, &error), &error);
            ASSERT_OK(recmap_loader_seek_record(loader, epoch, number, &error), &error);
            count = position + 8 > 100 ? (size_t)(100 - position) : 8;
        }
        assert_stands_at(loader, epoch, position);
        if (rng_one_in(&random, 4)) continue;
        next_batch(&batch, loader);
        ASSERT_OK(recmap_order_read(due, order, epoch, position, count, &error), &error);
        if (count) assert_batch(batch, due, count);
        else assert_null(batch);
    }
    ASSERT_OK(recmap_loader_seek(loader, 4, 17, &error), &error);
    assert_int_equal(recmap_loader_seek(loader, 0, 101, &error), RECMAP_INVALID);
    assert_int_equal(recmap_loader_seek(loader, 0, UINT64_MAX, &error), RECMAP_INVALID);
    assert_int_equal(recmap_loader_seek(loader, UINT64_MAX, 0, &error), RECMAP_INVALID);
    assert_int_equal(recmap_loader_seek_record(loader, 0, 100, &error), RECMAP_NOT_FOUND);
    assert_stands_at(loader, 4, 17);
    recmap_loader_destroy(loader);
    loader = loader_open(dataset, drawn, &options);
    assert_int_equal(recmap_loader_seek_record(loader, 0, 5, &error), RECMAP_INVALID);
    recmap_loader_destroy(loader);
    recmap_batch_destroy(batch);
    recmap_order_release(order);
    recmap_order_release(drawn);
    recmap_dataset_close(dataset);
}

/* The last epoch that there can be: then no more, and no crash. */
static void test_end_of_epochs(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = numbered_open(10, 1, NULL);
    recmap_order *order = order_of_kind(0, 10, 9);
    recmap_loader *loader = loader_open(dataset, order, NULL);
    recmap_batch *batch = NULL;
    ASSERT_OK(recmap_loader_seek(loader, RECMAP_STATE_NUMBER_MAX, 9, &error), &error);
    next_batch(&batch, loader);
    assert_non_null(batch);
    next_batch(&batch, loader);
    assert_null(batch);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(recmap_loader_next(&batch, loader, &error), RECMAP_INVALID);
        assert_non_null(strstr(error.message, "above 2^62"));
        assert_null(batch);
    }
    recmap_state *state;
    uint64_t epoch, position;
    ASSERT_OK(recmap_loader_tell(&epoch, &position, loader, &error), &error);
    assert_true(epoch == RECMAP_STATE_NUMBER_MAX + 1 && position == 0);
    assert_int_equal(recmap_loader_save(&state, loader, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "invalid values for a state: epoch is above 2^62");
    ASSERT_OK(recmap_loader_seek(loader, 0, 0, &error), &error);
    next_batch(&batch, loader);
    assert_non_null(batch);
    recmap_batch_destroy(batch);
    loader_close(loader, order, dataset);
}

/* A process that trains: it reports each record that it took, then saves its state atomically under
 * one name. Records reported after the last saved state do not count as trained on. */
static _Noreturn void train(recmap_order *order, int says) {
    recmap_dataset *dataset = dataset_open("set.rmx", NULL);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 5;
    options.thread_count = 3;
    recmap_loader *loader = loader_open(dataset, order, &options);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch = NULL;
    if (file_exists("state")) {
        struct buffer bytes = file_read("state");
        recmap_state *state;
        ASSERT_OK(recmap_state_from_json(&state, (const char *)bytes.data, bytes.size, &error),
                  &error);
        ASSERT_OK(recmap_loader_load(loader, state, &error), &error);
        recmap_state_destroy(state);
    }
    for (;;) {
        uint64_t line[7];
        ASSERT_OK(recmap_loader_tell(&line[0], &line[1], loader, &error), &error);
        next_batch(&batch, loader);
        if (!batch) continue;
        for (size_t i = 0; i < 5; i++) line[2 + i] = recmap_batch_records(batch)[i].number;
        if (write(says, line, sizeof line) != sizeof line) _exit(3);
        recmap_text bytes = json_of(save(loader));
        file_write("state.new", bytes.data, bytes.size);
        if (rename("state.new", "state")) _exit(4);
        recmap_text_deinit(&bytes);
    }
}

static void test_killed_runs_resume(void **unused) {
    (void)unused;
    enum { KILLS = 25, EPOCH = 4000 };
    if (has_thread_sanitizer) skip();
    numbered_write(EPOCH, 3);
    recmap_order *order = order_of_kind(0, EPOCH, 77);
    int says[2];
    assert_int_equal(pipe(says), 0);
    uint64_t at = 0, line[7], due[5];
    for (int kill_count = 0; kill_count < KILLS; kill_count++) {
        pid_t child = fork();
        if (!child) train(order, says[1]);
        /* Wait for at least this many steps; then kill the process at whatever point it has
         * reached. */
        for (int i = 0; i < 20 + kill_count; i++) {
            assert_int_equal(read(says[0], line, sizeof line), sizeof line);
            uint64_t said = line[0] * EPOCH + line[1];
            if (i == 0) { /* from the state on: all that was said, or all but the last step */
                assert_true(said == at || said + 5 == at);
                at = said;
            }
            assert_int_equal(said, at);
            assert_int_equal(recmap_order_read(due, order, line[0], line[1], 5, NULL), 0);
            assert_memory_equal(line + 2, due, sizeof due);
            at += 5;
        }
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        /* What it still said before it died. */
        for (struct pollfd more = {says[0], POLLIN, 0}; poll(&more, 1, 0) == 1;) {
            assert_int_equal(read(says[0], line, sizeof line), sizeof line);
            assert_int_equal(line[0] * EPOCH + line[1], at);
            at += 5;
        }
    }
    assert_true(at > KILLS * 100);
    close(says[0]);
    close(says[1]);
    recmap_order_release(order);
}

/* The data set has grown since the state was saved: its epoch is finished over the old records.
 * The loader moves while its threads fill batches of either order. */
static void test_the_epoch_of_a_grown_set_is_finished(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    numbered_write(4000, 4);
    index_build("old.rmx", NULL, shard_names(4), 3);
    recmap_dataset *old = dataset_open("old.rmx", NULL), *all = dataset_open("set.rmx", NULL);
    uint64_t n = recmap_dataset_count(old);
    recmap_order *old_order, *order;
    ASSERT_OK(recmap_order_shuffled(&old_order, n, 5, &error), &error);
    ASSERT_OK(recmap_order_shuffled(&order, recmap_dataset_count(all), 5, &error), &error);
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 16;
    recmap_loader *before = loader_open(old, old_order, &options);
    recmap_loader *after = loader_open(all, order, &options),
                  *whole = loader_open(old, old_order, &options);
    struct number_list expected = {NULL, 0, 0}, found = {NULL, 0, 0};
    take_steps(&expected, whole, SIZE_MAX);
    take_steps(&found, before, 3);
    recmap_state *state = save(before);
    assert_int_equal(recmap_loader_load(after, state, &error), RECMAP_MISMATCH);
    for (int i = 0; i < 5; i++) {
        struct number_list some = {NULL, 0, 0};
        ASSERT_OK(recmap_loader_load_grown(after, state, old_order, &error), &error);
        assert_stands_at(after, 0, 48);
        take_steps(&some, after, (size_t)i * 40);
        free(some.numbers);
        ASSERT_OK(recmap_loader_seek(after, 3, 0, &error), &error);
        take_steps(&(struct number_list){NULL, 0, 0}, after, 0);
    }
    ASSERT_OK(recmap_loader_load_grown(after, state, old_order, &error), &error);
    recmap_state *again = save(after);
    assert_int_equal(recmap_state_get_info(again)->record_count, n);
    take_steps(&found, after, SIZE_MAX);
    assert_int_equal(found.count, expected.count);
    assert_memory_equal(found.numbers, expected.numbers, found.count * sizeof *found.numbers);
    recmap_state_destroy(again);
    again = save(after);
    assert_int_equal(recmap_state_get_info(again)->record_count, recmap_dataset_count(all));
    found.count = 0;
    take_steps(&found, after, SIZE_MAX);
    assert_int_equal(found.count, recmap_dataset_count(all));
    assert_int_equal(recmap_loader_load_grown(before, again, order, &error), RECMAP_MISMATCH);
    recmap_state_destroy(again);
    recmap_state_destroy(state);
    free(found.numbers);
    free(expected.numbers);
    recmap_loader_destroy(after);
    recmap_loader_destroy(whole);
    loader_close(before, old_order, old);
    recmap_order_release(order);
    recmap_dataset_close(all);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(random_histories_deliver_each_position_once),
        TEST(a_state_of_every_step_resumes),
        TEST(saving_and_loading_does_not_drift),
        TEST(the_number_of_ranks_may_change),
        TEST(states_of_other_runs_are_refused),
        TEST(seeking_reaches_any_position),
        TEST(end_of_epochs),
        TEST(killed_runs_resume),
        TEST(the_epoch_of_a_grown_set_is_finished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
