#include "index_format/break_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/sample.h"

struct forged_value *value_of(struct forged *index, enum store_table table, size_t i) {
    assert_true(i < index->tables[table].count);
    return &index->tables[table].values[i];
}

void add_copy(struct forged *index, enum store_table table, struct store_key key) {
    struct forged_value copied = *value_of(index, table, 0);
    forged_add(index, table, key, copied.data, copied.size);
}

static void assert_refused(const struct break_case *broken, recmap_status status,
                           const recmap_error *error) {
    char due[160];
    snprintf(due, sizeof due, "%s%s", broken->message ? "the index is damaged or forged: " : "",
             broken->message ? broken->message : broken->other_message);
    assert_string_equal(error->message, due);
    assert_int_equal(status, broken->message ? RECMAP_CORRUPT : RECMAP_UNSUPPORTED);
    assert_int_equal(error->status, status);
    assert_string_equal(error->path, "forged.rmx");
    assert_true(error->advice[0]);
}

/* Neither merging the index nor appending to it carries over what opening it refuses. */
static void refuse_as_part(const struct break_case *broken, const char *target) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    ASSERT_OK(recmap_index_builder_create(&builder, target, NULL, &error), &error);
    recmap_status status = recmap_index_builder_add_index(builder, "forged.rmx", &error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, &error);
    assert_refused(broken, status, &error);
    recmap_index_builder_destroy(builder);
    assert_int_not_equal(access("merged.rmx", F_OK), 0);
}

static void refuse(const struct break_case *broken, bool in_memory) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_options options = {.in_memory = in_memory};
    struct index_file *index = NULL;
    recmap_status status = index_open(&index, "forged.rmx", &options, &error);
    if (!broken->use) {
        assert_null(index);
        assert_refused(broken, status, &error);
        refuse_as_part(broken, "merged.rmx");
        refuse_as_part(broken, "forged.rmx");
        return;
    }
    ASSERT_OK(status, &error);
    /* Not only the first time. */
    for (int i = 0; i < 2; i++) {
        error = (recmap_error)RECMAP_ERROR_INIT;
        assert_refused(broken, broken->use(index, &error), &error);
    }
    index_close(index);
}

void break_case_run(void **state) {
    const struct break_case *broken = *state;
    struct forged index = forged_read("sample.rmx");
    if (broken->say) broken->say(&index);
    forged_encode(&index);
    if (broken->change) broken->change(&index);
    forged_write(&index, "forged.rmx");
    forged_deinit(&index);
    refuse(broken, false);
    refuse(broken, true);
}

int break_case_enter(void **state) {
    if (folder_enter(state)) return -1;
    sample_build("sample.rmx");
    return 0;
}
