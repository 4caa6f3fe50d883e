#define _GNU_SOURCE
#include "support/index/store_breaks.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];
static char path[96];
static struct store_file sample;

int store_breaks_enter(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/recmap-format-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/sample.rmx", folder);
    sample_write(path);
    sample = file_load(path);
    return 0;
}

int store_breaks_leave(void **state) {
    (void)state;
    file_deinit(&sample);
    unlink(path);
    return rmdir(folder);
}

static void apply(const struct break_case *broken, struct store_file *file) {
    const struct break_field *field = &broken->field;
    if (broken->change) broken->change(file);
    if (field->locate) {
        uint64_t value = broken->value_of ? broken->value_of(file) : field->value;
        uint8_t *bytes = field->locate(file) + field->at;
        for (int i = 0; i < field->width; i++) bytes[i] = (uint8_t)(value >> 8 * i);
    }
    file_reseal(file);
    if (broken->change_at_last) broken->change_at_last(file);
}

static void refuse(const struct break_case *broken, bool in_memory) {
    struct store *opened = NULL;
    struct store_options options = {.in_memory = in_memory};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status due = broken->status == RECMAP_OK ? RECMAP_CORRUPT : broken->status;
    recmap_status status = store_open(&opened, path, &options, &error);
    assert_null(opened);
    assert_string_equal(error.message, broken->message);
    assert_int_equal(status, due);
    assert_int_equal(error.status, due);
    assert_string_equal(error.path, path);
    assert_true(error.advice[0] != 0);
    assert_true(error.offset == RECMAP_NO_OFFSET || error.offset < sample.size + 8192);
}

static void breaks(void **state) {
    const struct break_case *broken = *state;
    if (page_size_of(&sample) != 4096) skip();
    struct store_file file = file_copy(&sample);
    apply(broken, &file);
    file_save(path, file.bytes, file.size);
    file_deinit(&file);
    refuse(broken, false);
    refuse(broken, true);
}

struct CMUnitTest store_break_test(const struct break_case *broken) {
    return (struct CMUnitTest){broken->name, breaks, NULL, NULL, (void *)broken};
}
