/* Copies of sources that are not files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/core/interrupt.h" /* declares `fail`, which is a macro of cmocka */
#include "base/os/source.h"

#include <cmocka.h>

#include "support/index/build.h"

enum { MB = 1 << 20, CALL_MAX = 128 * MB };

/* A source whose bytes are 0, but for each offset that is a multiple of 1 MiB: there, its number of
 * MiB is. So most pages of a copy are never written. */
struct object {
    struct source source; /* first, so that a source is its object */
    uint64_t next;        /* all bytes below were read */
    size_t call_count;
    size_t failing; /* the call that fails; 0: none */
    bool is_closed;
};

static recmap_status read_object(size_t *failed_index, const struct source_read *reads,
                                 size_t count, struct interrupt *interrupt, recmap_error *error) {
    struct object *object = (struct object *)reads->source;
    uint64_t size = 0;
    *failed_index = 0;
    assert_ptr_equal(interrupt, thread_interrupt());
    if (++object->call_count == object->failing) return interrupt_fail(error);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(reads[i].offset, object->next);
        for (uint64_t at = 0; at < reads[i].size; at += MB)
            ((uint8_t *)reads[i].data)[at] = (uint8_t)((reads[i].offset + at) / MB);
        object->next += reads[i].size;
        size += reads[i].size;
    }
    assert_true(size <= CALL_MAX);
    return RECMAP_OK;
}

static void close_object(struct source *source) {
    ((struct object *)source)->is_closed = true;
}

static const struct source_table table = {read_object, close_object, NULL, NULL, NULL};

static struct object object_of(uint64_t size) {
    return (struct object){
        .source = {.table = &table, .fd = -1, .name = "mem://a", .etag = "", .stat.size = size}};
}

static void check_copy(int fd, uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct file_stat stat;
    ASSERT_OK(file_get_stat(&stat, fd, "copy", &error), &error);
    assert_int_equal(stat.size, size);
    for (uint64_t at = 0; at < size; at += MB) {
        uint8_t byte;
        ASSERT_OK(file_read_at(fd, &byte, 1, at, "copy", &error), &error);
        assert_int_equal(byte, (uint8_t)(at / MB));
    }
}

static void test_a_copy_is_read_in_groups(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, CALL_MAX, CALL_MAX + 1, 2 * (uint64_t)CALL_MAX + 9 * MB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct object object = object_of(sizes[i]);
        int fd;
        ASSERT_OK(source_take_file(&fd, &object.source, &error), &error);
        assert_true(object.is_closed);
        assert_int_equal(object.next, sizes[i]);
        assert_int_equal(object.call_count, (sizes[i] + CALL_MAX - 1) / CALL_MAX);
        check_copy(fd, sizes[i]);
        file_close(fd);
    }
}

static void test_no_group_is_read_after_one_that_failed(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    struct object object = object_of(2 * (uint64_t)CALL_MAX + 1);
    int fd;
    object.failing = 2;
    assert_int_equal(source_take_file(&fd, &object.source, &error), RECMAP_CANCELLED);
    assert_true(object.is_closed);
    assert_int_equal(object.call_count, 2);
    assert_int_equal(object.next, CALL_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_is_read_in_groups),
        cmocka_unit_test(test_no_group_is_read_after_one_that_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
