/* Sources: where the bytes of a shard come from. A local file is one kind of source, an object in a
 * remote store another (net/remote.h). Nothing that reads through a source depends on its kind. */
#ifndef RECMAP_BASE_OS_SOURCE_H
#define RECMAP_BASE_OS_SOURCE_H

#include "base/os/file.h"

struct interrupt;
struct source;

/* A read of `size` bytes at `offset` of a source into `data`. */
struct source_read {
    struct source *source;
    void *data;
    size_t size;
    uint64_t offset;
    size_t gap_size; /* the part of `size` that nobody needs, between what is needed; for figures */
};

/* What the kinds of sources do differently. */
struct source_table {
    /* Reads all ranges, of sources of this kind. On failure, sets `failed_index` to the index of a
     * read that failed. `interrupt` may be NULL. */
    recmap_status (*read)(size_t *failed_index, const struct source_read *reads, size_t count,
                          struct interrupt *interrupt, recmap_error *error);
    void (*close)(struct source *source);
    /* NULL if sources of this kind keep nothing. */
    void (*forget)(struct source *source, uint64_t offset, uint64_t size);
    bool (*has)(struct source *source, uint64_t offset, uint64_t size);
    struct source *(*origin)(struct source *source);
};

struct source {
    const struct source_table *table;
    int fd;           /* of a file; -1 if the source is none */
    const char *name; /* for messages; outlives the source */
    const char *etag; /* identifies the contents of an object; "" for a file */
    struct file_stat stat;
};

/* Takes the descriptor, even on failure. `name` must outlive the source. */
recmap_status source_open_file(struct source **source, int fd, const char *name,
                               recmap_error *error);

/* NULL may be closed. */
void source_close(struct source *source);

recmap_status source_read(struct source *source, void *data, size_t size, uint64_t offset,
                          recmap_error *error);

/* Reads ranges of any sources. Ranges of remote objects are in flight together. On failure, sets
 * `failed_index` as above. `interrupt` may be NULL. Errors: IO, STALE, NO_MEMORY, CANCELLED. */
recmap_status source_read_all(size_t *failed_index, const struct source_read *reads, size_t count,
                              struct interrupt *interrupt, recmap_error *error);

/* Drops what the source keeps of a range, because it turned out to be damaged: the next read gets
 * the range from where it comes from. */
void source_forget(struct source *source, uint64_t offset, uint64_t size);

/* The source that bytes come from if nothing that is kept of them is used: to read once more what
 * turned out to be damaged. Other threads may keep damaged bytes again after source_forget. Belongs
 * to the source. */
struct source *source_origin(struct source *source);

/* Returns true if a range can be read without a request to a remote store, as far as is known. */
bool source_has(struct source *source, uint64_t offset, uint64_t size);

/* Gives a descriptor of a local file with all bytes of the source: the file itself, or an unnamed
 * temporary copy. The caller closes it. Closes the source, even on failure. A copy is read in
 * calls of at most 128 MiB, which ask the thread's interrupt. */
recmap_status source_take_file(int *fd, struct source *source, recmap_error *error);

/* The same, but always gives a copy: for a file that cannot be mapped. */
recmap_status source_take_copy(int *fd, struct source *source, recmap_error *error);

#endif
