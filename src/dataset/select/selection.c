/* docs/formats/selection-format.md specifies the file. */
#include <recmap/selection.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/file.h"
#include "dataset/open/dataset.h"
#include "dataset/select/roaring.h"
#include "format/shards/shard_name.h"
#include "index/tables/identity.h"

enum {
    VERSION = 1,
    KIND_SET = 1,
    KIND_LIST = 2,
    HEADER_SIZE = 64,
    MAGIC_SIZE = 8,
    HASH_SIZE = 16,
    PATH_SIZE_MAX = 4095
};

static const char MAGIC[MAGIC_SIZE + 1] = "RMXview\n";

struct recmap_selection {
    bool is_set;
    uint64_t record_count; /* of the data set, when the selection was created */
    uint64_t shard_count;
    uint8_t fingerprint[IDENTITY_HASH_SIZE];
    char *index_path; /* resolved, if the selection was created; else as it is to be opened */
    char *path;       /* of the file, or NULL */
    uint64_t *numbers;
    size_t count;
    uint8_t *file; /* until the selection is attached: the file */
    const uint8_t *packed;
    size_t packed_size;
};

void recmap_selection_close(recmap_selection *selection) {
    if (!selection) return;
    free(selection->index_path);
    free(selection->path);
    free(selection->numbers);
    free(selection->file);
    free(selection);
}

const char *recmap_selection_index_path(const recmap_selection *selection) {
    return selection->index_path;
}

size_t recmap_selection_count(const recmap_selection *selection) {
    return selection->count;
}

const uint64_t *recmap_selection_numbers(const recmap_selection *selection) {
    return selection->numbers;
}

int recmap_selection_is_set(const recmap_selection *selection) {
    return selection->is_set;
}

/* ---- Creating. */

static bool ascends(const uint64_t *numbers, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (numbers[i] <= numbers[i - 1]) return false;
    return true;
}

static recmap_status check_numbers(const recmap_dataset *dataset, const uint64_t *numbers,
                                   size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(dataset_check_range(dataset, numbers[i], 1, error));
    return RECMAP_OK;
}

static recmap_status fill(recmap_selection *selection, const recmap_dataset *dataset,
                          const uint64_t *numbers, size_t count, recmap_error *error) {
    RETURN_IF_FAILED(check_numbers(dataset, numbers, count, error));
    RETURN_IF_FAILED(index_check_local(dataset_path(dataset), error));
    selection->numbers = malloc((count + 1) * sizeof *numbers);
    if (!selection->numbers) return fail_memory(error);
    if (count) memcpy(selection->numbers, numbers, count * sizeof *numbers);
    selection->count = count;
    selection->is_set = ascends(numbers, count);
    selection->record_count = dataset->info.record_count;
    selection->shard_count = dataset->info.shard_count;
    memcpy(selection->fingerprint, dataset->info.fingerprint.bytes, IDENTITY_HASH_SIZE);
    return path_resolve_entry(&selection->index_path, dataset_path(dataset), error);
}

recmap_status recmap_selection_create(recmap_selection **selection, recmap_dataset *dataset,
                                      const uint64_t *numbers, size_t count, recmap_error *error) {
    if (dataset->part_count) {
        fail(error, RECMAP_INVALID, "a selection of several indexes cannot be stored");
        fail_advise(error, "select from each data set by itself, or merge the indexes first "
                           "(recmap merge)");
        return RECMAP_INVALID;
    }
    recmap_selection *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = fill(fresh, dataset, numbers, count, error);
    if (status == RECMAP_OK) *selection = fresh;
    else recmap_selection_close(fresh);
    return status;
}

/* ---- Saving. */

/* The number of bytes that hold any record number. */
static unsigned number_width(uint64_t record_count) {
    unsigned bits = record_count ? bit_length(record_count - 1) : 0;
    return bits ? (bits + 7) / 8 : 1;
}

/* The path of the index in the file: relative if the index is in the folder of the file or below,
 * else absolute. The caller frees it. The index path of a selection that was opened is relative to
 * the working folder, so it must also be resolved. */
static recmap_status stored_path(char **stored, const recmap_selection *selection, const char *path,
                                 recmap_error *error) {
    char *folder = NULL, *index_path = NULL;
    RETURN_IF_FAILED(path_resolve_parent(&folder, path, error));
    recmap_status status = path_resolve_entry(&index_path, selection->index_path, error);
    if (status == RECMAP_OK) {
        size_t size = strlen(folder);
        bool is_root = size == 1;
        bool is_below = !strncmp(index_path, folder, size) && (is_root || index_path[size] == '/');
        *stored = strdup(index_path + (is_below ? size + !is_root : 0));
        if (!*stored) status = fail_memory(error);
    }
    free(folder);
    free(index_path);
    return status;
}

static recmap_status check_attached(const recmap_selection *selection, recmap_error *error) {
    if (selection->numbers) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the selection is not attached to its data set");
    fail_file(error, selection->path);
    fail_advise(error, "attach the selection before saving it");
    return RECMAP_INVALID;
}

static size_t payload_size(const recmap_selection *selection) {
    if (selection->is_set) return roaring_size(selection->numbers, selection->count);
    return selection->count * number_width(selection->record_count);
}

static void pack_list(uint8_t *bytes, const recmap_selection *selection) {
    unsigned width = number_width(selection->record_count);
    for (size_t i = 0; i < selection->count; i++)
        for (unsigned k = 0; k < width; k++) *bytes++ = (uint8_t)(selection->numbers[i] >> (8 * k));
}

static void put_hash(uint8_t *bytes, const uint8_t *data, size_t size) {
    XXH128_hash_t hash = XXH3_128bits(data, size);
    store64(bytes, hash.low64);
    store64(bytes + 8, hash.high64);
}

/* Writes the file's bytes to `file`, which has room for them. */
static void pack(uint8_t *file, const recmap_selection *selection, const char *stored,
                 size_t payload) {
    size_t path_size = strlen(stored);
    memset(file, 0, HEADER_SIZE);
    memcpy(file, MAGIC, MAGIC_SIZE);
    store32(file + 8, VERSION);
    store32(file + 12, selection->is_set ? KIND_SET : KIND_LIST);
    store64(file + 16, selection->record_count);
    store64(file + 24, selection->shard_count);
    memcpy(file + 32, selection->fingerprint, IDENTITY_HASH_SIZE);
    store64(file + 48, selection->count);
    store32(file + 56, (uint32_t)path_size);
    memcpy(file + HEADER_SIZE, stored, path_size);
    uint8_t *bytes = file + HEADER_SIZE + path_size;
    if (selection->is_set) roaring_pack(bytes, selection->numbers, selection->count);
    else pack_list(bytes, selection);
    put_hash(bytes + payload, file, HEADER_SIZE + path_size + payload);
}

static bool ends_in_rmv(const char *path) {
    size_t size = strlen(path);
    return size > 4 && !strcmp(path + size - 4, ".rmv");
}

/* Readers recognise a selection by its name. This also protects other files. */
static recmap_status check_target(const char *path, recmap_error *error) {
    if (ends_in_rmv(path)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the name of a selection must end in .rmv");
    fail_file(error, path);
    fail_advise(error, "end the name in .rmv");
    return RECMAP_INVALID;
}

static recmap_status publish(const char *path, const uint8_t *bytes, size_t size,
                             recmap_error *error) {
    struct temporary_file file = TEMPORARY_FILE_INIT;
    recmap_status status = temporary_create(&file, path, LEFTOVERS_REMOVE, error);
    if (status == RECMAP_OK) status = file_write_at(file.fd, bytes, size, 0, path, error);
    if (status == RECMAP_OK) status = file_sync(file.fd, path, error);
    if (status == RECMAP_OK) status = temporary_publish(&file, error);
    temporary_discard(&file);
    return status;
}

recmap_status recmap_selection_save(const recmap_selection *selection, const char *path,
                                    recmap_error *error) {
    char *stored = NULL;
    RETURN_IF_FAILED(check_target(path, error));
    RETURN_IF_FAILED(check_attached(selection, error));
    RETURN_IF_FAILED(stored_path(&stored, selection, path, error));
    size_t payload = payload_size(selection);
    size_t size = HEADER_SIZE + strlen(stored) + payload + HASH_SIZE;
    uint8_t *bytes = malloc(size);
    if (bytes) pack(bytes, selection, stored, payload);
    free(stored);
    if (!bytes) return fail_memory(error);
    recmap_status status = publish(path, bytes, size, error);
    free(bytes);
    return status;
}

/* ---- Opening. */

static recmap_status fail_corrupt(const recmap_selection *selection, recmap_error *error,
                                  const char *what) {
    fail(error, RECMAP_CORRUPT, "%s", what);
    fail_file(error, selection->path);
    fail_advise(error, "write the selection again with `recmap select`");
    return RECMAP_CORRUPT;
}

/* The largest size of a file with this header, or UINT64_MAX. The numbers take the most bytes as a
 * list, or as a set with roaring_size_max. */
static uint64_t size_max(const uint8_t header[HEADER_SIZE]) {
    enum { UNKNOWN_MAX = 1 << 20 };
    uint64_t record_count = load64(header + 16), count = load64(header + 48), payload;
    uint64_t others = (uint64_t)HEADER_SIZE + HASH_SIZE + load32(header + 56);
    if (load32(header + 8) != VERSION) return UNKNOWN_MAX;
    if (load32(header + 12) == KIND_LIST) {
        if (__builtin_mul_overflow(count, number_width(record_count), &payload)) return UINT64_MAX;
    } else {
        payload = roaring_size_max(count, record_count);
    }
    return payload > UINT64_MAX - others ? UINT64_MAX : payload + others;
}

/* Compares the first bytes with what they should be and with the file's size, so that no file is
 * read whole, however large, that is not a selection. */
static recmap_status check_first_bytes(const recmap_selection *selection, int fd, uint64_t size,
                                       recmap_error *error) {
    uint8_t header[HEADER_SIZE] = {0};
    size_t first = (size_t)min_u64(size, HEADER_SIZE);
    RETURN_IF_FAILED(file_read_at(fd, header, first, 0, selection->path, error));
    if (first < MAGIC_SIZE || memcmp(header, MAGIC, MAGIC_SIZE) != 0)
        return fail_corrupt(selection, error, "this is not a recmap selection");
    if (size < HEADER_SIZE + HASH_SIZE)
        return fail_corrupt(selection, error, "the selection is truncated");
    if (size > size_max(header))
        return fail_corrupt(selection, error,
                            "the selection is damaged: it is longer than its header says");
    return RECMAP_OK;
}

static recmap_status read_all(recmap_selection *selection, int fd, size_t size,
                              recmap_error *error) {
    selection->file = malloc(size + 1);
    if (!selection->file) return fail_memory(error);
    return file_read_at(fd, selection->file, size, 0, selection->path, error);
}

static recmap_status read_file(recmap_selection *selection, size_t *size, recmap_error *error) {
    int fd = -1;
    struct file_stat stat;
    recmap_status status = file_open(&fd, selection->path, error);
    if (status == RECMAP_OK) status = file_get_stat(&stat, fd, selection->path, error);
    if (status == RECMAP_OK) status = check_first_bytes(selection, fd, stat.size, error);
    if (status == RECMAP_OK) status = read_all(selection, fd, *size = (size_t)stat.size, error);
    file_close(fd);
    return status;
}

/* Checks everything else but the numbers, whose limits only the data set knows. */
static recmap_status check_header(recmap_selection *selection, size_t size, recmap_error *error) {
    const uint8_t *file = selection->file;
    uint8_t hash[HASH_SIZE];
    put_hash(hash, file, size - HASH_SIZE);
    if (memcmp(hash, file + size - HASH_SIZE, HASH_SIZE) != 0)
        return fail_corrupt(selection, error, "the selection is damaged: its hash does not match");
    if (load32(file + 8) != VERSION) {
        fail(error, RECMAP_UNSUPPORTED, "the selection has format %u, but this version reads %d",
             load32(file + 8), VERSION);
        fail_file(error, selection->path);
        fail_advise(error, "install a newer version of recmap");
        return RECMAP_UNSUPPORTED;
    }
    uint32_t kind = load32(file + 12), path_size = load32(file + 56);
    size_t room = size - HEADER_SIZE - HASH_SIZE;
    if ((kind != KIND_SET && kind != KIND_LIST) || load32(file + 60) || !path_size ||
        path_size > PATH_SIZE_MAX || path_size > room || memchr(file + HEADER_SIZE, 0, path_size))
        return fail_corrupt(selection, error, "the selection has a malformed header");
    selection->is_set = kind == KIND_SET;
    selection->record_count = load64(file + 16);
    selection->shard_count = load64(file + 24);
    memcpy(selection->fingerprint, file + 32, IDENTITY_HASH_SIZE);
    selection->count = (size_t)load64(file + 48);
    selection->packed = file + HEADER_SIZE + path_size;
    selection->packed_size = room - path_size;
    return RECMAP_OK;
}

static recmap_status fail_outside(const recmap_selection *selection, const char *what,
                                  recmap_error *error) {
    fail(error, RECMAP_INVALID, "the selection's index is %s: %.800s", what, selection->index_path);
    fail_file(error, selection->path);
    fail_advise(error, "if you trust the selection, allow absolute paths "
                       "(allow_absolute_paths=True); or pass `--index NAME.rmx`");
    return RECMAP_INVALID;
}

/* Links are followed as for shards. An index that is missing is reported when it is opened. */
static recmap_status check_links(const recmap_selection *selection, const char *folder,
                                 const char *name, recmap_error *error) {
    int fd = -1;
    recmap_status status = file_open_beneath(&fd, folder, name, false, selection->index_path, NULL);
    file_close(fd);
    if (status != RECMAP_INVALID && status != RECMAP_CORRUPT) return RECMAP_OK;
    return fail_outside(selection, "reached by a symbolic link that is not followed", error);
}

/* The folder from which the name of the index starts. If the selection was opened by a link, it is
 * the folder that has the index, as for shards and a link to an index. */
static recmap_status find_start(char **folder, bool *is_here, const recmap_selection *selection,
                                const char *name, recmap_error *error) {
    bool is_elsewhere = false;
    *folder = NULL;
    if (path_is_link(selection->path))
        RETURN_IF_FAILED(path_resolve_start(folder, &is_elsewhere, selection->path, name, error));
    *is_here = !is_elsewhere && !strchr(selection->path, '/');
    if (is_elsewhere) return RECMAP_OK;
    free(*folder);
    return (*folder = path_folder(selection->path)) ? RECMAP_OK : fail_memory(error);
}

static recmap_status find_relative(recmap_selection *selection, const char *name,
                                   bool allows_all_links, recmap_error *error) {
    char *folder;
    bool is_here;
    RETURN_IF_FAILED(find_start(&folder, &is_here, selection, name, error));
    selection->index_path = is_here ? strdup(name) : path_join(folder, name);
    recmap_status status = RECMAP_OK;
    if (!selection->index_path) status = fail_memory(error);
    else if (!allows_all_links) status = check_links(selection, folder, name, error);
    free(folder);
    return status;
}

/* The file names its index by an absolute path or by one relative to its own folder. The file is
 * untrusted and must not make recmap open any file it likes: a relative path has to stay inside the
 * folder, and an absolute one needs the caller's permission. */
static recmap_status find_index(recmap_selection *selection, const char *name,
                                bool allow_absolute_path, recmap_error *error) {
    if (name[0] != '/' && !shard_name_stays_inside(name))
        return fail_corrupt(selection, error, "the selection has a malformed path of its index");
    if (name[0] != '/') return find_relative(selection, name, allow_absolute_path, error);
    selection->index_path = strdup(name);
    if (!selection->index_path) return fail_memory(error);
    if (allow_absolute_path) return RECMAP_OK;
    return fail_outside(selection, "outside its own folder", error);
}

static recmap_status read_name(recmap_selection *selection, bool allow_absolute_path,
                               recmap_error *error) {
    char *name = strndup((const char *)selection->file + HEADER_SIZE, load32(selection->file + 56));
    if (!name) return fail_memory(error);
    recmap_status status = find_index(selection, name, allow_absolute_path, error);
    free(name);
    return status;
}

recmap_status recmap_selection_open(recmap_selection **selection, const char *path,
                                    int allow_absolute_path, recmap_error *error) {
    recmap_selection *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    size_t size = 0;
    fresh->path = strdup(path);
    recmap_status status = fresh->path ? read_file(fresh, &size, error) : fail_memory(error);
    if (status == RECMAP_OK) status = check_header(fresh, size, error);
    if (status == RECMAP_OK) status = read_name(fresh, allow_absolute_path != 0, error);
    if (status == RECMAP_OK) *selection = fresh;
    else recmap_selection_close(fresh);
    return status;
}

/* ---- Attaching. */

/* Hashes the first shards of the data set, as its fingerprint would if it had no others. */
static recmap_status prefix_fingerprint(uint8_t fingerprint[IDENTITY_HASH_SIZE],
                                        const recmap_dataset *dataset, uint64_t shard_count,
                                        recmap_error *error) {
    uint8_t *hashes = malloc((size_t)shard_count * IDENTITY_HASH_SIZE + 1);
    if (!hashes) return fail_memory(error);
    for (uint64_t i = 0; i < shard_count; i++)
        memcpy(hashes + i * IDENTITY_HASH_SIZE, dataset->shard_table[i].entry.identity.hash,
               IDENTITY_HASH_SIZE);
    identity_fingerprint(fingerprint, hashes, (size_t)shard_count);
    free(hashes);
    return RECMAP_OK;
}

static uint64_t prefix_record_count(const recmap_dataset *dataset, uint64_t shard_count) {
    if (shard_count == dataset->info.shard_count) return dataset->info.record_count;
    return dataset->shard_table[shard_count].first_record;
}

static recmap_status fail_stale(const recmap_selection *selection, recmap_error *error) {
    fail(error, RECMAP_STALE,
         "the selection is of other records than its index has now: the data set was changed, not "
         "only extended");
    fail_file(error, selection->path);
    fail_advise(error, "select again from %.400s", selection->index_path);
    return RECMAP_STALE;
}

static bool unpack_list(recmap_selection *selection) {
    unsigned width = number_width(selection->record_count);
    if (selection->packed_size != selection->count * width) return false;
    const uint8_t *bytes = selection->packed;
    for (size_t i = 0; i < selection->count; i++, bytes += width) {
        uint64_t number = 0;
        for (unsigned k = 0; k < width; k++) number |= (uint64_t)bytes[k] << (8 * k);
        if (number >= selection->record_count) return false;
        selection->numbers[i] = number;
    }
    return true;
}

/* The count is checked first, so that memory follows the data set, or the file's size. */
static recmap_status unpack(recmap_selection *selection, recmap_error *error) {
    unsigned width = number_width(selection->record_count);
    bool fits = selection->is_set ? selection->count <= selection->record_count
                                  : selection->count <= selection->packed_size / width;
    if (!fits) return fail_corrupt(selection, error, "the selection has a malformed header");
    selection->numbers = malloc((selection->count + 1) * sizeof *selection->numbers);
    if (!selection->numbers) return fail_memory(error);
    bool is_good = selection->is_set ? roaring_unpack(selection->numbers, selection->count,
                                                      selection->record_count, selection->packed,
                                                      selection->packed_size)
                                     : unpack_list(selection);
    if (!is_good) return fail_corrupt(selection, error, "the selection has malformed numbers");
    free(selection->file);
    selection->file = NULL;
    return RECMAP_OK;
}

recmap_status recmap_selection_attach(recmap_selection *selection, recmap_dataset *dataset,
                                      recmap_error *error) {
    uint8_t fingerprint[IDENTITY_HASH_SIZE];
    if (!selection->file) return RECMAP_OK;
    if (selection->shard_count > dataset->info.shard_count ||
        selection->record_count != prefix_record_count(dataset, selection->shard_count))
        return fail_stale(selection, error);
    RETURN_IF_FAILED(prefix_fingerprint(fingerprint, dataset, selection->shard_count, error));
    if (memcmp(fingerprint, selection->fingerprint, IDENTITY_HASH_SIZE) != 0)
        return fail_stale(selection, error);
    return unpack(selection, error);
}

/* The selection, the index, or both have been moved. */
static void advise_moved(const recmap_selection *selection, recmap_error *error) {
    if (!error || (error->system_errno != ENOENT && error->system_errno != ENOTDIR)) return;
    if (strcmp(error->path, selection->index_path) != 0) return;
    fail_advise(error,
                "%.400s expects its index there, by a path that starts at the selection's "
                "own folder unless it is absolute. Pass `--index NAME.rmx` if the index "
                "was moved, and `--shards FOLDER` if its shards were moved.",
                selection->path ? selection->path : "the selection");
}

recmap_status recmap_selection_open_dataset(recmap_dataset **dataset, recmap_selection *selection,
                                            const char *index_path,
                                            const recmap_dataset_options *options,
                                            recmap_error *error) {
    recmap_dataset *opened = NULL;
    const char *path = index_path ? index_path : selection->index_path;
    recmap_status status = recmap_dataset_open(&opened, path, options, error);
    if (status == RECMAP_IO && !index_path) advise_moved(selection, error);
    if (status == RECMAP_OK) status = recmap_selection_attach(selection, opened, error);
    if (status == RECMAP_OK) *dataset = opened;
    else recmap_dataset_close(opened);
    return status;
}
