#include "simulation/world/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

enum { INODES_MAX = 4096 };

#define ENOUGH ((uint64_t)1 << 40)
#define EPOCH_NS ((int64_t)1700000000 * 1000000000)

static struct inode *root;
static struct inode *inodes[INODES_MAX];
static size_t inode_count;
static uint64_t last_number;
static uint64_t used, limit;

/* ---- Bytes. */

static void bytes_resize(struct bytes *bytes, size_t size) {
    if (size > bytes->capacity) {
        bytes->capacity = size * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data) run_fail("the world has no memory for a disk");
    }
    if (size > bytes->size) memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void bytes_copy(struct bytes *bytes, const void *data, size_t size) {
    bytes_resize(bytes, size);
    if (size) memcpy(bytes->data, data, size);
}

/* ---- Inodes. */

static void touch(struct inode *inode) {
    inode->mtime_ns = EPOCH_NS + (int64_t)schedule_now();
}

struct inode *disk_create(uint32_t mode) {
    struct inode *inode = calloc(1, sizeof *inode);
    if (!inode || inode_count == INODES_MAX) run_fail("the world has no room for a file");
    inode->number = ++last_number;
    inode->mode = mode;
    inode->memory = -1;
    touch(inode);
    inodes[inode_count++] = inode;
    if (S_ISDIR(mode)) {
        inode->folder = calloc(1, sizeof *inode->folder);
        return inode;
    }
    inode->memory = memfd_create("file", MFD_CLOEXEC);
    inode->pages = mmap(NULL, FILE_SIZE_LIMIT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        inode->memory, 0);
    if (inode->memory < 0 || inode->pages == MAP_FAILED)
        run_fail("the world cannot create a file: %s", strerror(errno));
    return inode;
}

static bool has_durable_name(const struct inode *inode) {
    for (size_t i = 0; i < inode_count; i++) {
        const struct folder *folder = inodes[i]->folder;
        for (size_t k = 0; folder && k < folder->durable.count; k++)
            if (folder->durable.entries[k].inode == inode) return true;
        for (size_t k = 0; folder && k < folder->operation_count; k++)
            if (folder->operations[k].inode == inode) return true;
    }
    return false;
}

void disk_release(struct inode *inode) {
    if (inode->links || inode->opens || inode->folder || has_durable_name(inode)) return;
    size_t i = 0;
    while (inodes[i] != inode) i++;
    inodes[i] = inodes[--inode_count];
    used -= inode->size;
    munmap(inode->pages, FILE_SIZE_LIMIT);
    close(inode->memory);
    free(inode->durable.data);
    free(inode->clean.data);
    free(inode);
}

/* ---- Names. */

static struct entry *find_entry(struct entry_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->entries[i].name, name)) return &list->entries[i];
    return NULL;
}

static void set_entry(struct entry_list *list, const char *name, struct inode *inode) {
    struct entry *entry = find_entry(list, name);
    if (!entry) {
        if (list->count == ENTRIES_MAX) run_fail("a folder of the world is full");
        entry = &list->entries[list->count++];
        snprintf(entry->name, sizeof entry->name, "%s", name);
    }
    entry->inode = inode;
}

static void remove_entry(struct entry_list *list, const char *name) {
    struct entry *entry = find_entry(list, name);
    if (entry) *entry = list->entries[--list->count];
}

static void apply(struct entry_list *list, const struct operation *operation) {
    if (operation->former[0]) remove_entry(list, operation->former);
    if (operation->inode) set_entry(list, operation->name, operation->inode);
    else remove_entry(list, operation->name);
}

static void change(struct inode *folder, const char *name, const char *former,
                   struct inode *inode) {
    struct folder *names = folder->folder;
    if (names->operation_count == OPERATIONS_MAX) {
        apply(&names->durable, &names->operations[0]);
        memmove(names->operations, names->operations + 1,
                --names->operation_count * sizeof *names->operations);
    }
    struct operation *operation = &names->operations[names->operation_count++];
    *operation = (struct operation){.inode = inode};
    snprintf(operation->name, sizeof operation->name, "%s", name);
    snprintf(operation->former, sizeof operation->former, "%s", former);
    apply(&names->now, operation);
    touch(folder);
}

int disk_link(struct inode *folder, const char *name, struct inode *inode) {
    if (strlen(name) >= NAME_MAX_SIZE) return ENAMETOOLONG;
    inode->links++;
    change(folder, name, "", inode);
    return 0;
}

int disk_unlink(struct inode *folder, const char *name) {
    struct entry *entry = find_entry(&folder->folder->now, name);
    if (!entry) return ENOENT;
    struct inode *inode = entry->inode;
    if (inode->folder) return EISDIR;
    change(folder, name, "", NULL);
    inode->links--;
    disk_release(inode);
    return 0;
}

int disk_rename(struct inode *folder, const char *former, const char *name) {
    struct entry *entry = find_entry(&folder->folder->now, former);
    struct entry *replaced = find_entry(&folder->folder->now, name);
    if (!entry) return ENOENT;
    struct inode *inode = entry->inode, *other = replaced ? replaced->inode : NULL;
    change(folder, name, former, inode);
    if (other) {
        other->links--;
        disk_release(other);
    }
    return 0;
}

struct inode *disk_find(struct inode **folder, const char **name, const char *path) {
    struct inode *inode = root;
    static char part[NAME_MAX_SIZE];
    *folder = root;
    *name = "";
    while (*path) {
        while (*path == '/') path++;
        size_t size = strcspn(path, "/");
        if (!size) break;
        if (!inode || !inode->folder || size >= sizeof part) {
            errno = !inode ? ENOENT : size >= sizeof part ? ENAMETOOLONG : ENOTDIR;
            return *folder = NULL, NULL;
        }
        memcpy(part, path, size);
        part[size] = 0;
        path += size;
        *folder = inode;
        *name = part;
        struct entry *entry = find_entry(&inode->folder->now, part);
        inode = entry ? entry->inode : NULL;
    }
    if (!inode) errno = ENOENT;
    return inode;
}

/* ---- Contents. */

void disk_set_space(uint64_t space) {
    limit = space < ENOUGH ? used + space : ENOUGH;
}

uint64_t disk_space_left(void) {
    return used < limit ? limit - used : 0;
}

bool disk_resize(struct inode *inode, uint64_t size) {
    if (size > inode->size && size - inode->size > disk_space_left()) return false;
    if (size > FILE_SIZE_LIMIT) run_fail("a file of the world is too large");
    if (ftruncate(inode->memory, (off_t)size)) run_fail("the world cannot resize a file");
    used = used - inode->size + size;
    inode->size = size;
    touch(inode);
    return true;
}

bool disk_write(struct inode *inode, const void *data, size_t size, uint64_t offset) {
    if (offset + size > inode->size && !disk_resize(inode, offset + size)) return false;
    memcpy(inode->pages + offset, data, size);
    touch(inode);
    return true;
}

static size_t sector_size(size_t size, size_t at) {
    return size - at < SECTOR ? size - at : SECTOR;
}

/* Calls `store` for each sector of the page cache that differs from what the kernel believes. */
static void flush(struct inode *inode, bool (*is_stored)(struct random_stream *choices),
                  struct random_stream *choices, bool is_believed) {
    bytes_resize(&inode->clean, inode->size);
    bytes_resize(&inode->durable, inode->size);
    for (size_t at = 0; at < inode->size; at += SECTOR) {
        size_t size = sector_size(inode->size, at);
        if (!memcmp(inode->pages + at, inode->clean.data + at, size)) continue;
        bool reaches_disk = is_stored(choices);
        if (reaches_disk) memcpy(inode->durable.data + at, inode->pages + at, size);
        if (reaches_disk || is_believed) memcpy(inode->clean.data + at, inode->pages + at, size);
    }
}

static bool store_all(struct random_stream *choices) {
    (void)choices;
    return true;
}

static bool store_some(struct random_stream *choices) {
    return random_once_in(choices, 2);
}

void disk_sync(struct inode *inode) {
    if (!inode->folder) {
        flush(inode, store_all, NULL, true);
        return;
    }
    for (size_t i = 0; i < inode->folder->operation_count; i++)
        apply(&inode->folder->durable, &inode->folder->operations[i]);
    inode->folder->operation_count = 0;
}

void disk_lose_sync(struct inode *inode, struct random_stream *choices) {
    if (!inode->folder) flush(inode, store_some, choices, true);
}

/* As the kernel does every few seconds. A crash then tears files whose names and first bytes are on
 * the disk, although their process never syncs them. */
static void write_back_all(void) {
    trace("everything is written to the disk");
    for (size_t i = 0; i < inode_count; i++) disk_sync(inodes[i]);
}

void disk_write_back(struct random_stream *choices) {
    if (random_once_in(choices, 2)) {
        write_back_all();
        return;
    }
    struct inode *inode = inodes[random_below(choices, inode_count)];
    if (inode->folder) return;
    /* A size that grew is written with the bytes, or after them. */
    if (inode->size >= inode->durable.size) flush(inode, store_some, choices, false);
}

struct inode *disk_put(const char *path, const void *data, size_t size) {
    struct inode *folder;
    const char *name;
    struct inode *inode = disk_find(&folder, &name, path);
    if (!inode) {
        inode = disk_create(S_IFREG | 0644);
        disk_link(folder, name, inode);
    }
    if (!disk_resize(inode, 0) || !disk_write(inode, data, size, 0))
        run_fail("the world has no space for %s", path);
    disk_sync(inode);
    disk_sync(folder);
    return inode;
}

/* ---- Crashes. */

/* Chances that a sector is kept that was not synced: all, some, or all but a few. */
static bool keeps_sector(uint64_t kind, struct random_stream *choices) {
    return kind < 4 ? random_once_in(choices, kind) : !random_once_in(choices, 1 << kind);
}

/* Keeps any part of what was not synced. A size may have changed before its bytes: these are zeros
 * then. */
static void crash_file(struct inode *inode, struct random_stream *choices) {
    uint64_t kind = random_below(choices, 7);
    size_t sizes[] = {inode->durable.size, inode->size};
    struct bytes left = {0};
    if (kind == 0) {
        bytes_copy(&left, inode->durable.data, inode->durable.size);
    } else if (kind == 1) {
        bytes_copy(&left, inode->pages, inode->size);
    } else {
        size_t size = sizes[random_below(choices, 2)];
        bytes_copy(&left, inode->durable.data, inode->durable.size);
        bytes_resize(&left, size);
        for (size_t at = 0; at < size && at < inode->size; at += SECTOR)
            if (keeps_sector(kind, choices))
                memcpy(left.data + at, inode->pages + at,
                       sector_size(size < inode->size ? size : inode->size, at));
    }
    /* What the kernel believed to be on the disk is not written. */
    for (size_t at = 0; at < left.size && at < inode->clean.size && at < inode->size;
         at += SECTOR) {
        size_t size =
            sector_size(inode->size < inode->clean.size ? inode->size : inode->clean.size, at);
        if (at + size > left.size || at + size > inode->durable.size) continue;
        if (!memcmp(inode->pages + at, inode->clean.data + at, size))
            memcpy(left.data + at, inode->durable.data + at, size);
    }
    if (ftruncate(inode->memory, 0) || ftruncate(inode->memory, (off_t)left.size))
        run_fail("the world cannot resize a file");
    if (left.size) memcpy(inode->pages, left.data, left.size);
    used = used - inode->size + left.size;
    inode->size = left.size;
    bytes_copy(&inode->durable, left.data, left.size);
    bytes_copy(&inode->clean, left.data, left.size);
    free(left.data);
}

static void crash_folder(struct folder *folder, struct random_stream *choices) {
    uint64_t kind = random_below(choices, 4);
    size_t prefix = (size_t)random_below(choices, folder->operation_count + 1);
    for (size_t i = 0; i < folder->operation_count; i++) {
        bool is_kept = kind == 0   ? false
                       : kind == 1 ? true
                       : kind == 2 ? i < prefix
                                   : random_once_in(choices, 2);
        if (is_kept) apply(&folder->durable, &folder->operations[i]);
    }
    folder->operation_count = 0;
    folder->now = folder->durable;
}

void disk_crash(struct random_stream *choices) {
    trace("the machine loses power");
    for (size_t i = 0; i < inode_count; i++) {
        if (inodes[i]->folder) crash_folder(inodes[i]->folder, choices);
        inodes[i]->links = 0;
    }
    for (size_t i = 0; i < inode_count; i++)
        for (size_t k = 0; inodes[i]->folder && k < inodes[i]->folder->now.count; k++)
            inodes[i]->folder->now.entries[k].inode->links++;
    root->links = 1;
    for (size_t i = inode_count; i-- > 0;) {
        struct inode *inode = inodes[i];
        if (inode->folder) continue;
        if (inode->links) crash_file(inode, choices);
        else disk_release(inode);
    }
}

void disk_init(void) {
    static const char *const folders[] = {"data", "tmp", "cache"};
    limit = ENOUGH;
    root = disk_create(S_IFDIR | 0755);
    root->links = 1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        disk_link(root, folders[i], disk_create(S_IFDIR | 0755));
    disk_sync(root);
}
