/* The disk. A file has the bytes that processes see, which are in the page cache, and the bytes
 * that would be left after a crash. A crash keeps what was synced, and any part of the rest: pages
 * in any order, torn at any sector; names in any order, unless their folder was synced.
 *
 * The page cache of a file is a memfd, so that the kernel's own maps show what other processes
 * write, and raise SIGBUS past the end of a file that was truncated. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_DISK_H
#define RECMAP_TESTS_SIMULATION_WORLD_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulation/world/random.h"

enum { NAME_MAX_SIZE = 96, ENTRIES_MAX = 128, OPERATIONS_MAX = 512, SECTOR = 512 };

#define FILE_SIZE_LIMIT ((uint64_t)64 << 20)

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct entry {
    char name[NAME_MAX_SIZE];
    struct inode *inode;
};

struct entry_list {
    struct entry entries[ENTRIES_MAX];
    size_t count;
};

/* A change of a folder that is not on the disk yet. */
struct operation {
    char name[NAME_MAX_SIZE];   /* that gets the inode, or loses it if that is NULL */
    char former[NAME_MAX_SIZE]; /* that loses it at the same time, or "" */
    struct inode *inode;
};

struct folder {
    struct entry_list now, durable;
    struct operation operations[OPERATIONS_MAX];
    size_t operation_count;
};

struct inode {
    uint64_t number;
    struct folder *folder; /* NULL: a file */
    uint32_t mode;
    unsigned links;
    unsigned opens;
    int64_t mtime_ns;
    int memory;     /* the page cache */
    uint8_t *pages; /* the same, mapped */
    uint64_t size;
    struct bytes durable; /* what is on the disk */
    struct bytes clean;   /* what the kernel believes is on the disk */
    void *lock;           /* the locks of its open files; see files.c */
};

void disk_init(void);

/* The inode at a path, or NULL with errno. `folder` and `name` are where it is, or would be. */
struct inode *disk_find(struct inode **folder, const char **name, const char *path);

struct inode *disk_create(uint32_t mode);
/* Gives an inode a name, or takes the name away, or moves it. */
int disk_link(struct inode *folder, const char *name, struct inode *inode);
int disk_unlink(struct inode *folder, const char *name);
int disk_rename(struct inode *folder, const char *former, const char *name);

/* Frees an inode that has neither a name nor an open file. */
void disk_release(struct inode *inode);

/* Returns false if there is no space. */
bool disk_resize(struct inode *inode, uint64_t size);
bool disk_write(struct inode *inode, const void *data, size_t size, uint64_t offset);

void disk_sync(struct inode *inode);
/* A sync that fails: some pages are lost, and the kernel forgets that they are not on the disk. */
void disk_lose_sync(struct inode *inode, struct random_stream *choices);
/* Writes everything to the disk, or any pages of a file, as the kernel does whenever it likes. */
void disk_write_back(struct random_stream *choices);

/* The machine loses power. Nothing is open. */
void disk_crash(struct random_stream *choices);

/* How many bytes files may grow by; FOREVER: any. */
void disk_set_space(uint64_t space);
uint64_t disk_space_left(void);

/* Puts a file there that is on the disk. */
struct inode *disk_put(const char *path, const void *data, size_t size);

#endif
