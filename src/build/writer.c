/* recmap_writer: writes a TFRecord file, and its index at the same time. */
#include <stdlib.h>
#include <string.h>

#include <recmap/writer.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "build/options.h"
#include "build/packer.h"
#include "build/target.h"
#include "format/tfrecord.h"
#include "os/file.h"
#include "scan/extract.h"

enum { BUFFER_SIZE = 1 << 20, RUN_RECORDS = 1 << 12 };

struct recmap_writer {
    struct temporary_file file;
    char *path; /* absolute, as the index will name it */
    uint8_t *buffer;
    size_t buffered;
    uint64_t written;     /* bytes in the file */
    recmap_status failed; /* the status of the first failure */
    bool is_closed;
    struct packer *packer; /* NULL: no index */
    struct extractor *extractor;
    struct record_run run;
};

/* The absolute path of `path`, with the links in its folder resolved. The folder must exist; the
 * file need not. */
static recmap_status resolve_target(char **real_path, const char *path, recmap_error *error) {
    char *folder = path_folder(path), *real = NULL;
    if (!folder) return fail_memory(error);
    recmap_status status = path_resolve(&real, folder, error);
    free(folder);
    if (status != RECMAP_OK) return status;
    *real_path = path_join(real, path_name(path));
    free(real);
    return *real_path ? RECMAP_OK : fail_memory(error);
}

/* Rejects an index path that is the path of the file itself. */
static recmap_status check_index_path(const recmap_writer *writer, const char *index_path,
                                      recmap_error *error) {
    char *real_path = NULL;
    RETURN_IF_FAILED(resolve_target(&real_path, index_path, error));
    bool is_same = !strcmp(real_path, writer->path);
    free(real_path);
    if (!is_same) return target_check(index_path, error);
    fail(error, RECMAP_INVALID, "the file and its index have the same path");
    fail_file(error, index_path);
    fail_advise(error, "give the index another name");
    return RECMAP_INVALID;
}

/* Rejects names that say that the file is compressed, since other programs go by the name. */
static recmap_status check_name(const char *path, recmap_error *error) {
    static const char *const endings[] = {".gz", ".gzip", ".zlib", ".bz2", ".xz", ".zst", ".lz4"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending_size = strlen(endings[i]);
        if (size < ending_size || strcmp(path + size - ending_size, endings[i]) != 0) continue;
        fail(error, RECMAP_INVALID, "the name ends in %s, but the writer does not compress",
             endings[i]);
        fail_file(error, path);
        fail_advise(error, "write it without %s, then compress the file; GZIP and ZLIB can be read",
                    endings[i]);
        return RECMAP_INVALID;
    }
    return RECMAP_OK;
}

/* Prepares the index: extractor, run and packer. The file is the only shard, named by its final
 * path. */
static recmap_status begin_index(recmap_writer *writer, const recmap_writer_options *options,
                                 recmap_error *error) {
    static const recmap_index_options defaults = RECMAP_INDEX_OPTIONS_INIT;
    const recmap_index_options *index = options->index ? options->index : &defaults;
    RETURN_IF_FAILED(index_options_check(index, error));
    RETURN_IF_FAILED(check_index_path(writer, options->index_path, error));
    RETURN_IF_FAILED(extractor_create(&writer->extractor, index, error));
    if (!run_init(&writer->run, index->id_feature != NULL, index->lift_count,
                  index->counted_feature_count))
        return fail_memory(error);
    RETURN_IF_FAILED(packer_create(&writer->packer, options->index_path, index, error));
    return packer_begin_shard(writer->packer, writer->path, tfrecord_framing.name, error);
}

static recmap_status begin_file(recmap_writer *writer, const char *path,
                                const recmap_writer_options *options, recmap_error *error) {
    writer->file = (struct temporary_file)TEMPORARY_FILE_INIT;
    writer->buffer = malloc(BUFFER_SIZE);
    if (!writer->buffer) return fail_memory(error);
    RETURN_IF_FAILED(resolve_target(&writer->path, path, error));
    RETURN_IF_FAILED(temporary_create(&writer->file, path, error));
    return options->index_path ? begin_index(writer, options, error) : RECMAP_OK;
}

/* Creates the temporary file and, if an index is wanted, its packer, so that paths that cannot be
 * written to are errors here. recmap_writer_destroy also cleans up a writer that is only half
 * created. */
recmap_status recmap_writer_create(recmap_writer **writer, const char *path,
                                   const recmap_writer_options *options, recmap_error *error) {
    static const recmap_writer_options defaults = RECMAP_WRITER_OPTIONS_INIT;
    if (!options) options = &defaults;
    if (options->version != RECMAP_WRITER_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_writer_options has version %u, expected %d",
                    options->version, RECMAP_WRITER_OPTIONS_VERSION);
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the file has no path");
    RETURN_IF_FAILED(check_name(path, error));
    recmap_writer *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = begin_file(fresh, path, options, error);
    if (status == RECMAP_OK) *writer = fresh;
    else recmap_writer_destroy(fresh);
    return status;
}

void recmap_writer_destroy(recmap_writer *writer) {
    if (!writer) return;
    packer_destroy(writer->packer);
    extractor_destroy(writer->extractor);
    run_deinit(&writer->run);
    temporary_discard(&writer->file);
    free(writer->buffer);
    free(writer->path);
    free(writer);
}

/* After a fork, the child has a copy of the writer whose descriptors refer to the parent's files.
 * This check comes before every write, so that the child cannot change them. */
static recmap_status check_process(const recmap_writer *writer, recmap_error *error) {
    if (temporary_is_own(&writer->file)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the writer belongs to the process that forked this one");
    fail_file(error, writer->path);
    fail_advise(error, "write another file in each process");
    return RECMAP_INVALID;
}

static recmap_status flush(recmap_writer *writer, recmap_error *error) {
    if (check_process(writer, error) != RECMAP_OK) return RECMAP_INVALID;
    recmap_status status = file_write_at(writer->file.fd, writer->buffer, writer->buffered,
                                         writer->written, writer->path, error);
    writer->written += writer->buffered;
    writer->buffered = 0;
    return status;
}

static recmap_status append(recmap_writer *writer, const void *data, size_t size,
                            recmap_error *error) {
    if (size > BUFFER_SIZE - writer->buffered) RETURN_IF_FAILED(flush(writer, error));
    if (size > BUFFER_SIZE) {
        recmap_status status =
            file_write_at(writer->file.fd, data, size, writer->written, writer->path, error);
        writer->written += size;
        return status;
    }
    if (size) memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    return RECMAP_OK;
}

static recmap_status flush_run(recmap_writer *writer, recmap_error *error) {
    if (check_process(writer, error) != RECMAP_OK) return RECMAP_INVALID;
    struct interrupt former = thread_interrupt_clear();
    recmap_status status = packer_add_run(writer->packer, &writer->run, error);
    thread_interrupt_restore(&former);
    if (status != RECMAP_OK) fail_file(error, writer->path);
    run_clear(&writer->run);
    return status;
}

static recmap_status index_record(recmap_writer *writer, uint64_t offset, const void *data,
                                  size_t size, uint32_t check, recmap_error *error) {
    if (!run_add(&writer->run, offset, size, check)) return fail_memory(error);
    recmap_status status = extractor_lift(writer->extractor, &writer->run, data, size, error);
    if (status != RECMAP_OK) {
        fail_at(error, writer->path, packer_record_count(writer->packer) + writer->run.count - 1,
                offset);
        return status;
    }
    return writer->run.count == RUN_RECORDS ? flush_run(writer, error) : RECMAP_OK;
}

static recmap_status write_record(recmap_writer *writer, const void *data, size_t size,
                                  recmap_error *error) {
    uint8_t header[TFRECORD_HEADER_SIZE], footer[TFRECORD_FOOTER_SIZE];
    uint64_t offset = writer->written + writer->buffered;
    tfrecord_make_header(header, size);
    tfrecord_make_footer(footer, data, size);
    RETURN_IF_FAILED(append(writer, header, sizeof header, error));
    RETURN_IF_FAILED(append(writer, data, size, error));
    RETURN_IF_FAILED(append(writer, footer, sizeof footer, error));
    if (!writer->packer) return RECMAP_OK;
    return index_record(writer, offset, data, size, load32(footer), error);
}

static recmap_status check_usable(const recmap_writer *writer, recmap_error *error) {
    if (writer->is_closed) {
        fail(error, RECMAP_INVALID, "the writer is closed");
    } else if (writer->failed != RECMAP_OK) {
        fail(error, RECMAP_INVALID, "the writer failed before; it can only be destroyed");
    } else {
        return RECMAP_OK;
    }
    fail_file(error, writer->path);
    return RECMAP_INVALID;
}

recmap_status recmap_writer_write(recmap_writer *writer, const void *data, size_t size,
                                  recmap_error *error) {
    RETURN_IF_FAILED(check_usable(writer, error));
    return writer->failed = write_record(writer, data, size, error);
}

/* Ends the shard in the index, with the file's final size and time: nothing is written after this.
 */
static recmap_status end_index(recmap_writer *writer, recmap_error *error) {
    struct file_stat stat;
    RETURN_IF_FAILED(flush_run(writer, error));
    RETURN_IF_FAILED(file_get_stat(&stat, writer->file.fd, writer->path, error));
    struct shard_end end = {stat.size, stat.size, COMPRESSION_NONE, stat.mtime_ns, "", 0, NULL};
    return packer_end_shard(writer->packer, &end, NULL, error);
}

static recmap_status publish_file(void *context, recmap_error *error) {
    recmap_writer *writer = context;
    return temporary_publish(&writer->file, error);
}

/* The index is complete and synced before the file is published, and is published immediately
 * after it: a crash in between leaves a file without an index, but never an index without its file.
 */
static recmap_status finish_both(recmap_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(flush(writer, error));
    RETURN_IF_FAILED(file_sync(writer->file.fd, writer->path, error));
    if (!writer->packer) return publish_file(writer, error);
    RETURN_IF_FAILED(end_index(writer, error));
    return packer_finish(writer->packer, publish_file, writer, NULL, error);
}

/* No interrupt stops a writer: it could not be finished afterwards, and the records would be lost.
 */
static recmap_status finish(recmap_writer *writer, recmap_error *error) {
    struct interrupt former = thread_interrupt_clear();
    recmap_status status = finish_both(writer, error);
    thread_interrupt_restore(&former);
    return status;
}

recmap_status recmap_writer_finish(recmap_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(check_usable(writer, error));
    writer->failed = finish(writer, error);
    writer->is_closed = writer->failed == RECMAP_OK;
    return writer->failed;
}
