/* Any bytes as a selection (NAME.rmv): as they are, and with the description of the data set and
 * the hash corrected, so that its numbers are also read. What is accepted are numbers of records.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <recmap/selection.h>

#include "base/core/bytes.h"
#include "fuzz/fuzz.h"
#include "fuzz/small_set.h"

/* docs/formats/selection-format.md */
enum { HEADER_SIZE = 64, HASH_SIZE = 16, DESCRIPTION_OFFSET = 16, DESCRIPTION_SIZE = 32 };

static const char *path;
static uint8_t description[DESCRIPTION_SIZE]; /* of the data set: counts and fingerprint */

static void prepare(void) {
    const recmap_dataset_info *info = recmap_dataset_get_info(small_set());
    store64(description, info->record_count);
    store64(description + 8, info->shard_count);
    memcpy(description + 16, info->fingerprint.bytes, 16);
    path = small_set_path("any.rmv");
}

static void check_numbers(const recmap_selection *selection) {
    const uint64_t *numbers = recmap_selection_numbers(selection);
    size_t count = recmap_selection_count(selection);
    bool is_set = recmap_selection_is_set(selection);
    for (size_t i = 0; i < count; i++) {
        check(numbers[i] < SMALL_SET_RECORDS);
        check(!is_set || !i || numbers[i] > numbers[i - 1]);
    }
    recmap_selection *same;
    check(recmap_selection_create(&same, small_set(), numbers, count, NULL) == RECMAP_OK);
    check(recmap_selection_is_set(same) || !is_set);
    recmap_selection_close(same);
}

static void open_file(const uint8_t *data, size_t size) {
    recmap_selection *selection;
    recmap_error error = RECMAP_ERROR_INIT;
    small_set_write(path, data, size);
    if (recmap_selection_open(&selection, path, 0, &error) != RECMAP_OK) {
        check(error.message[0]);
        return;
    }
    /* It names no file outside its folder. */
    const char *index_path = recmap_selection_index_path(selection);
    check(!strncmp(index_path, small_set_folder(), strlen(small_set_folder())));
    if (recmap_selection_attach(selection, small_set(), &error) == RECMAP_OK)
        check_numbers(selection);
    else check(error.message[0]);
    recmap_selection_close(selection);
}

static void open_corrected(const uint8_t *data, size_t size) {
    if (size < HEADER_SIZE + HASH_SIZE) return;
    uint8_t *file = malloc(size);
    check(file != NULL);
    memcpy(file, data, size);
    memcpy(file + DESCRIPTION_OFFSET, description, DESCRIPTION_SIZE);
    XXH128_hash_t hash = XXH3_128bits(file, size - HASH_SIZE);
    store64(file + size - HASH_SIZE, hash.low64);
    store64(file + size - HASH_SIZE + 8, hash.high64);
    open_file(file, size);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!path) prepare();
    open_file(data, size);
    open_corrected(data, size);
    return 0;
}
