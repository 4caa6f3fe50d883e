/* Buffers that grow: they keep their bytes and alignment, and large ones are not copied. buffer.c
 * is compiled in here with a memcpy that counts. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/sanitizers.h"

static size_t copied_size;

static void *counted_copy(void *out, const void *bytes, size_t size) {
    copied_size += size;
    return memcpy(out, bytes, size);
}

#define memcpy counted_copy
#include "parse/plan/buffer.c"
#undef memcpy

#include <cmocka.h>

#define LARGEST ((size_t)256 << 20)
enum { SIZE_MIN = 1 << 12, STEP = 4093 };

/* Writes to [begin, end), a few bytes per page. */
static void fill(struct buffer *buffer, size_t begin, size_t end) {
    for (size_t i = (begin + STEP - 1) / STEP * STEP; i < end; i += STEP)
        buffer->data[i] = (uint8_t)(i / STEP * 7);
}

static void expect_filled(const struct buffer *buffer, size_t end) {
    for (size_t i = 0; i < end; i += STEP)
        if (buffer->data[i] != (uint8_t)(i / STEP * 7)) fail_msg("byte %zu changed", i);
}

static void test_growing_copies_few_bytes(void **state) {
    (void)state;
    struct buffer buffer = {0};
    size_t used = 0;
    copied_size = 0;
    for (size_t size = SIZE_MIN; size <= LARGEST; size *= 2) {
        assert_true(buffer_reserve(&buffer, used, size));
        assert_int_equal((uintptr_t)buffer.data % BUFFER_ALIGNMENT, 0);
        assert_true(buffer.capacity >= size);
        expect_filled(&buffer, used);
        fill(&buffer, used, size);
        used = size;
    }
    /* A sanitizer's realloc always copies and need not keep the alignment. */
    if (!has_address_sanitizer && !has_thread_sanitizer)
        assert_true(copied_size < 2 * (size_t)MOVED_SIZE_MIN);
    buffer_release(&buffer);
}

/* Without bytes to keep, nothing is copied. */
static void test_empty_buffers_copy_nothing(void **state) {
    (void)state;
    struct buffer buffer = {0};
    copied_size = 0;
    assert_true(buffer_reserve(&buffer, 0, MOVED_SIZE_MIN));
    assert_true(buffer_reserve(&buffer, 0, 3 * (size_t)MOVED_SIZE_MIN));
    assert_int_equal(copied_size, 0);
    buffer_release(&buffer);
}

/* A buffer that was released is allocated with its old capacity, and not grown again. */
static void test_released_buffers_get_their_old_capacity(void **state) {
    (void)state;
    struct buffer buffer = {0};
    assert_true(buffer_reserve(&buffer, 0, SIZE_MIN));
    size_t capacity = buffer.capacity;
    buffer_release(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.capacity, 0);
    assert_true(buffer_reserve(&buffer, 0, 1));
    assert_int_equal(buffer.capacity, capacity);
    buffer_release(&buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing_copies_few_bytes),
        cmocka_unit_test(test_empty_buffers_copy_nothing),
        cmocka_unit_test(test_released_buffers_get_their_old_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
