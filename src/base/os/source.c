#include "base/os/source.h"

#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/activity.h"
#include "base/os/map.h"

static recmap_status read_file(const struct source_read *read, struct interrupt *interrupt,
                               recmap_error *error) {
    const struct source *source = read->source;
    activity_begin_read(source->name, read->offset, read->size);
    recmap_status status =
        file_read_at(source->fd, read->data, read->size, read->offset, source->name, error);
    activity_end_read();
    if (status != RECMAP_OK) return status;
    return interrupt ? interrupt_check(interrupt, read->size, error) : RECMAP_OK;
}

static recmap_status read_files(size_t *failed_index, const struct source_read *reads, size_t count,
                                struct interrupt *interrupt, recmap_error *error) {
    for (*failed_index = 0; *failed_index < count; ++*failed_index)
        RETURN_IF_FAILED(read_file(&reads[*failed_index], interrupt, error));
    return RECMAP_OK;
}

static void close_file(struct source *source) {
    file_close(source->fd);
    free(source);
}

static const struct source_table file_table = {read_files, close_file, NULL, NULL, NULL};

recmap_status source_open_file(struct source **source, int fd, const char *name,
                               recmap_error *error) {
    struct source *fresh = malloc(sizeof *fresh);
    if (fresh) *fresh = (struct source){.table = &file_table, .fd = fd, .name = name, .etag = ""};
    recmap_status status = fresh ? file_get_stat(&fresh->stat, fd, name, error)
                                 : fail_memory(error);
    if (status == RECMAP_OK) {
        *source = fresh;
        return RECMAP_OK;
    }
    file_close(fd);
    free(fresh);
    return status;
}

void source_close(struct source *source) {
    if (source) source->table->close(source);
}

recmap_status source_read(struct source *source, void *data, size_t size, uint64_t offset,
                          recmap_error *error) {
    struct source_read read = {.source = source, .data = data, .size = size, .offset = offset};
    size_t failed_index;
    return source->table->read(&failed_index, &read, 1, NULL, error);
}

/* Reads of the same kind that follow each other are passed on together. */
recmap_status source_read_all(size_t *failed_index, const struct source_read *reads, size_t count,
                              struct interrupt *interrupt, recmap_error *error) {
    for (size_t i = 0, end; i < count; i = end) {
        const struct source_table *table = reads[i].source->table;
        for (end = i + 1; end < count && reads[end].source->table == table;) end++;
        recmap_status status = table->read(failed_index, reads + i, end - i, interrupt, error);
        if (status == RECMAP_OK) continue;
        *failed_index += i;
        return status;
    }
    return RECMAP_OK;
}

void source_forget(struct source *source, uint64_t offset, uint64_t size) {
    if (source->table->forget) source->table->forget(source, offset, size);
}

struct source *source_origin(struct source *source) {
    return source->table->origin ? source->table->origin(source) : source;
}

bool source_has(struct source *source, uint64_t offset, uint64_t size) {
    if (source->table->has) return source->table->has(source, offset, size);
    return source->fd >= 0;
}

static recmap_status create_copy(int *fd, uint64_t size, recmap_error *error) {
    char *target = path_join(path_scratch_folder(), "recmap-shard");
    if (!target) return fail_memory(error);
    recmap_status status = file_create_unnamed(fd, target, error);
    if (status == RECMAP_OK && size) {
        status = file_reserve(*fd, size, target, error);
        if (status != RECMAP_OK) file_close(*fd);
    }
    if (status != RECMAP_OK)
        fail_advise(error, "remote files are copied there to read them: free some space, or set "
                           "TMPDIR to a folder with enough");
    free(target);
    return status;
}

/* The ranges of a copy that are in flight together. */
enum { COPY_PART = 8 << 20, COPY_PARTS = 16 };

/* Reads the ranges of a group, which begins at `begin`, to their places in the copy. */
static recmap_status read_group(uint8_t *copy, struct source *source, uint64_t begin,
                                recmap_error *error) {
    struct source_read reads[COPY_PARTS];
    size_t count = 0, failed_index;
    uint64_t size = source->stat.size;
    for (uint64_t offset = begin; count < COPY_PARTS && offset < size; offset += COPY_PART) {
        uint64_t left = size - offset;
        reads[count++] = (struct source_read){.source = source,
                                              .data = copy + offset,
                                              .size = (size_t)(left < COPY_PART ? left : COPY_PART),
                                              .offset = offset};
    }
    return source_read_all(&failed_index, reads, count, thread_interrupt(), error);
}

/* Reads all bytes into a map of the copy, group by group. A cache holds all bytes of a call in
 * memory until the last of them has arrived, and credentials are renewed only between calls. */
static recmap_status fill_copy(int fd, struct source *source, recmap_error *error) {
    uint64_t size = source->stat.size;
    uint8_t *copy;
    RETURN_IF_FAILED(map_writable(&copy, fd, (size_t)size, source->name, error));
    recmap_status status = RECMAP_OK;
    for (uint64_t begin = 0; status == RECMAP_OK && begin < size;
         begin += (uint64_t)COPY_PART * COPY_PARTS)
        status = read_group(copy, source, begin, error);
    unmap_writable(copy, (size_t)size);
    return status;
}

static recmap_status copy_source(int *fd, struct source *source, recmap_error *error) {
    int copy = -1;
    RETURN_IF_FAILED(create_copy(&copy, source->stat.size, error));
    recmap_status status = source->stat.size ? fill_copy(copy, source, error) : RECMAP_OK;
    if (status == RECMAP_OK) *fd = copy;
    else file_close(copy);
    return status;
}

recmap_status source_take_copy(int *fd, struct source *source, recmap_error *error) {
    recmap_status status = copy_source(fd, source, error);
    source_close(source);
    return status;
}

recmap_status source_take_file(int *fd, struct source *source, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    if (source->fd >= 0) {
        *fd = source->fd;
        source->fd = -1;
    } else {
        status = copy_source(fd, source, error);
    }
    source_close(source);
    return status;
}
