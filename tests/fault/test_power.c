/* Power loss. A build's writes, resizes, syncs and renames are recorded; then every state that the
 * disk could have been left in is put together: what was synced is there, of the rest any part, and
 * a rename may have reached the disk before the bytes of its file. The index must be the old one or
 * the new one, and the new one for good once the build said so. Beyond that, the file is opened as
 * each loss leaves it, also losses of a disk that lies about its syncs, as if the rename had come
 * too early: a torn index is never accepted, and never read wrongly where only its values are
 * torn. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum { EVENTS_MAX = 4096, PIECE_SIZE = 4096, INDEX_MAX = 1 << 20 };

/* One thing that reached the kernel. */
struct event {
    enum call_kind kind;
    ino_t inode; /* of the file, or of the folder that was synced */
    uint64_t offset;
    size_t size;
    uint8_t *data;
};

static struct fixture data;
static struct event events[EVENTS_MAX];
static size_t event_count;
static ino_t new_inode; /* of the file that became the index */
static ino_t folder_inode;

static ino_t inode_of(int fd) {
    struct stat st;
    require(!fstat(fd, &st), "fstat");
    return st.st_ino;
}

/* Logs every call that changes the disk, with its data. The states after a power failure are put
 * together from this log. */
static void record(void *context, const struct call *call) {
    (void)context;
    bool is_event = call->kind == CALL_WRITE || call->kind == CALL_RESIZE ||
                    call->kind == CALL_SYNC || call->kind == CALL_RENAME;
    if (!is_event) return;
    require(event_count < EVENTS_MAX, "room for events");
    struct event *event = &events[event_count++];
    *event = (struct event){.kind = call->kind, .offset = call->offset, .size = call->size};
    if (call->kind == CALL_RENAME) {
        struct stat st;
        require(!strcmp(call->new_path, data.index) && !stat(call->new_path, &st),
                "the index was renamed");
        event->inode = new_inode = st.st_ino;
        return;
    }
    event->inode = inode_of(call->fd);
    if (call->kind != CALL_WRITE) return;
    event->data = malloc(call->size + 1);
    require(event->data != NULL, "memory");
    memcpy(event->data, call->data, call->size);
}

/* What becomes of that which was not synced. */
enum loss { LOSS_ALL, LOSS_NONE, LOSS_ALL_BUT_NAME, LOSS_SOME, LOSS_DESPITE_SYNC };

struct image {
    uint8_t bytes[INDEX_MAX];
    size_t size;
};

static struct image disk;

static void image_resize(uint64_t size) {
    require(size <= INDEX_MAX, "room for the image");
    if (size > disk.size) memset(disk.bytes + disk.size, 0, size - disk.size);
    disk.size = size;
}

static void image_write(const struct event *event, size_t skip, size_t size) {
    if (event->offset + skip + size > disk.size) image_resize(event->offset + skip + size);
    memcpy(disk.bytes + event->offset + skip, event->data + skip, size);
}

static bool survives(enum loss loss, uint64_t *random) {
    if (loss == LOSS_DESPITE_SYNC) return choose_below(random, 8) > 0;
    return loss == LOSS_NONE || (loss == LOSS_SOME && choose_below(random, 2));
}

/* The events on a file that happened before `cut` and are on disk for certain: those up to the
 * returned one. */
static size_t synced_until(ino_t inode, size_t cut) {
    size_t until = 0;
    for (size_t i = 0; i < cut; i++)
        if (events[i].kind == CALL_SYNC && events[i].inode == inode) until = i;
    return until;
}

/* The bytes of the new file as a power loss before event `cut` may leave them. */
static void make_image(size_t cut, enum loss loss, uint64_t *random) {
    size_t certain = loss == LOSS_DESPITE_SYNC ? 0 : synced_until(new_inode, cut);
    disk.size = 0;
    for (size_t i = 0; i < cut; i++) {
        const struct event *event = &events[i];
        if (event->inode != new_inode) continue;
        if (event->kind == CALL_RESIZE && (i < certain || survives(loss, random)))
            image_resize(event->offset);
        if (event->kind != CALL_WRITE) continue;
        for (size_t from = 0; from < event->size; from += PIECE_SIZE) {
            size_t size = event->size - from < PIECE_SIZE ? event->size - from : PIECE_SIZE;
            if (i < certain || survives(loss, random)) image_write(event, from, size);
        }
    }
}

/* Returns true if the new file has the index's name after the loss. */
static bool is_renamed(size_t cut, enum loss loss, uint64_t *random) {
    for (size_t i = 0; i < cut; i++) {
        if (events[i].kind != CALL_RENAME) continue;
        if (synced_until(folder_inode, cut) > i) return true;
        return loss == LOSS_ALL_BUT_NAME || survives(loss, random);
    }
    return false;
}

static bool is_new(void) {
    return disk.size == data.new_index.size && !memcmp(disk.bytes, data.new_index.bytes, disk.size);
}

/* Values that are torn are found when they are used; what is read must be right. */
static const char *read_lazily(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    if (recmap_dataset_open(&dataset, path, NULL, &error) != RECMAP_OK) return NULL;
    uint64_t count = recmap_dataset_count(dataset);
    const char *wrong = count == FIXTURE_RECORDS ? NULL : "another number of records";
    for (uint64_t number = 0; !wrong && number < count; number++) {
        recmap_record found;
        if (recmap_dataset_get(&found, dataset, number, &error) != RECMAP_OK) continue;
        if (!payload_holds(&found, number)) wrong = "a torn index gave wrong bytes";
        recmap_record_release(&found);
    }
    recmap_dataset_close(dataset);
    return wrong;
}

static const char *open_torn(void) {
    char path[PATH_LIMIT];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    snprintf(path, sizeof path, "%s/torn.rmx", data.folder);
    file_bytes_save(path, disk.bytes, disk.size);
    options.index_check = RECMAP_INDEX_CHECK_FULL;
    recmap_status status = recmap_dataset_open(&dataset, path, &options, &error);
    recmap_dataset_close(dataset);
    if (is_new()) return status == RECMAP_OK ? read_lazily(path) : "the whole index was refused";
    if (status == RECMAP_OK) return "a torn index was accepted";
    if (status != RECMAP_CORRUPT || !error.path[0])
        return case_says("a torn index: %s: %s", recmap_status_name(status), error.message);
    return read_lazily(path);
}

enum { SOME_FIRST = 3 };

/* Case `number` is a moment, and a way of losing what was not synced. */
static const char *lose_power(void *context, size_t number) {
    size_t ways = *(const size_t *)context;
    size_t cut = number / ways, way = number % ways;
    enum loss loss = way < SOME_FIRST ? (enum loss)way : way % 2 ? LOSS_SOME : LOSS_DESPITE_SYNC;
    uint64_t random = test_seed() + number;
    make_image(cut, loss, &random);
    bool renamed = is_renamed(cut, loss, &random);
    bool lied = loss == LOSS_DESPITE_SYNC;
    if (!lied && renamed && !is_new()) return "the index has its name, but not its bytes";
    if (!lied && cut == event_count && !renamed) return "the index that was published is lost";
    const char *wrong = open_torn();
    return wrong ? case_says("before event %zu of %zu: %s", cut, event_count, wrong) : NULL;
}

static void test_power_loss_leaves_the_old_or_the_new_index(void **state) {
    (void)state;
    size_t ways = SOME_FIRST + (test_is_long() ? 300 : 60);
    struct call_plan plan = {.kinds = CALL_ALL_FILES, .watch = record};
    struct stat st;
    fixture_create(&data);
    require(!stat(data.folder, &st), "stat");
    folder_inode = st.st_ino;
    interpose_start(&plan);
    assert_int_equal(fixture_append(&data, NULL), RECMAP_OK);
    interpose_stop();
    assert_true(file_bytes_equal(&data.new_index, data.index));
    /* The whole of the log, with nothing lost, is the new index. */
    make_image(event_count, LOSS_NONE, NULL);
    assert_true(is_new());
    test_seed();
    assert_int_equal(cases_run("power loss", (event_count + 1) * ways, 1, lose_power, &ways), 0);
    for (size_t i = 0; i < event_count; i++) free(events[i].data);
    fixture_destroy(&data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_loss_leaves_the_old_or_the_new_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
