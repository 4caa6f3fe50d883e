#include "index/build/target.h"

#include <stdbool.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "index/store/seal.h"

static bool is_named(const char *path, const char *ending) {
    size_t size = strlen(path), ending_size = strlen(ending);
    return size > ending_size && !strcmp(path + size - ending_size, ending);
}

/* Commands and Python open every file of such a name as a selection, so nothing could open the
 * index. */
static recmap_status refuse_selection_name(const char *path, recmap_error *error) {
    fail(error, RECMAP_INVALID, "is the name of a selection, not of an index");
    fail_file(error, path);
    fail_advise(error, "end the name of the index in .rmx");
    return RECMAP_INVALID;
}

/* Finds out if the file is an index. An empty file counts as one: nothing is lost with it, and
 * programs create empty files to reserve a name. */
static recmap_status look_for_seal(bool *holds, int fd, const char *path, recmap_error *error) {
    struct file_stat stat;
    uint8_t end[SEAL_SIZE];
    RETURN_IF_FAILED(file_get_stat(&stat, fd, path, error));
    *holds = stat.size == 0;
    if (stat.size < SEAL_SIZE) return RECMAP_OK;
    RETURN_IF_FAILED(file_read_at(fd, end, SEAL_SIZE, stat.size - SEAL_SIZE, path, error));
    *holds = seal_is_present(end);
    return RECMAP_OK;
}

static recmap_status holds_index(bool *holds, const char *path, recmap_error *error) {
    int fd;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = look_for_seal(holds, fd, path, error);
    file_close(fd);
    return status;
}

recmap_status target_check(const char *path, recmap_error *error) {
    struct file_stat stat;
    bool is_there, holds;
    if (is_named(path, ".rmv")) return refuse_selection_name(path, error);
    if (is_named(path, ".rmx")) return RECMAP_OK;
    recmap_status status = file_find_stat(&stat, &is_there, path, error);
    if (status != RECMAP_OK || !is_there) return status;
    status = holds_index(&holds, path, error);
    if (status != RECMAP_OK || holds) return status;
    fail(error, RECMAP_INVALID, "already exists and is not a recmap index");
    fail_file(error, path);
    fail_advise(error, "give the index another name (-o NAME.rmx), or remove the file first");
    return RECMAP_INVALID;
}
