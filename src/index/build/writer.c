/* recmap_writer: writes a TFRecord file, compressed or not, and its index at the same time. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <recmap/writer.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "format/framing/tfrecord.h"
#include "format/shards/set_name.h"
#include "format/shards/shard_name.h"
#include "index/build/options.h"
#include "index/build/packer.h"
#include "index/build/shard_output.h"
#include "index/build/target.h"
#include "index/extract/extract.h"
#include "index/scan/points_scan.h"

enum { RUN_RECORDS = 1 << 12 };

struct recmap_writer {
    struct shard_output output;
    char *path;           /* absolute, as the index will name it */
    recmap_status failed; /* the status of the first failure */
    bool is_closed;
    struct packer *packer; /* NULL: no index */
    bool is_part;          /* none of the records need have the id */
    struct extractor *extractor;
    struct record_run run;
};

/* Rejects an index path that is the path of the file itself. */
static recmap_status check_index_path(const recmap_writer *writer, const char *index_path,
                                      recmap_error *error) {
    char *real_path = NULL;
    RETURN_IF_FAILED(path_resolve_entry(&real_path, index_path, error));
    bool is_same = !strcmp(real_path, writer->path);
    free(real_path);
    if (!is_same) return target_check(index_path, error);
    fail(error, RECMAP_INVALID, "the file and its index have the same path");
    fail_file(error, index_path);
    fail_advise(error, "give the index another name");
    return RECMAP_INVALID;
}

/* Rejects the name of an index or a selection: nothing would read the file as a shard, and an index
 * of that name would be replaced. */
static recmap_status check_name(const char *path, recmap_error *error) {
    if (shard_name_is_possible(path_name(path))) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "is the name of an index or a selection, not of a shard");
    fail_file(error, path);
    fail_advise(error, "end the name differently, as in NAME.tfrecord");
    return RECMAP_INVALID;
}

/* The size of the path up to where its ending says how the file is compressed: all of it, or what
 * is before -00000-of-00002 at the end. */
static size_t named_size(const char *path) {
    struct set_member member;
    size_t size = strlen(path);
    if (!set_member_parse(&member, path) || member.end[0]) return size;
    return member.stem_size && path[member.stem_size - 1] == '-' ? member.stem_size - 1 : size;
}

/* Returns where the ending starts in the path of this size, ignoring case, or NULL if the path
 * lacks it. */
static const char *find_ending(const char *path, size_t size, const char *ending) {
    size_t ending_size = strlen(ending);
    if (size < ending_size || strncasecmp(path + size - ending_size, ending, ending_size) != 0)
        return NULL;
    return path + size - ending_size;
}

/* Rejects a name that says that the file is compressed in another way, since other programs go by
 * the name. */
static recmap_status fail_name(const char *path, const char *ending, int size,
                               enum compression kind, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the name ends in %.*s, but the compression is %s", size, ending,
         compression_name(kind));
    fail_file(error, path);
    fail_advise(error,
                "end the name in .gz for GZIP or .zlib for ZLIB, without %.*s for no "
                "compression; or compress the file afterwards",
                size, ending);
    return RECMAP_INVALID;
}

/* The compression that the options ask for, or else the name. */
static recmap_status choose_compression(enum compression *kind, const char *path,
                                        const recmap_writer_options *options, recmap_error *error) {
    static const struct {
        const char *text;
        int kind; /* -1: cannot be written */
    } endings[] = {{".gz", COMPRESSION_GZIP},
                   {".gzip", COMPRESSION_GZIP},
                   {".zlib", COMPRESSION_ZLIB},
                   {".tgz", -1},
                   {".zip", -1},
                   {".deflate", -1},
                   {".snappy", -1},
                   {".br", -1},
                   {".bz2", -1},
                   {".xz", -1},
                   {".zst", -1},
                   {".lz4", -1}};
    static const enum compression kinds[] = {COMPRESSION_NONE, COMPRESSION_NONE, COMPRESSION_GZIP,
                                             COMPRESSION_ZLIB};
    unsigned choice = (unsigned)options->compression;
    if (choice > RECMAP_COMPRESSION_ZLIB)
        return fail(error, RECMAP_INVALID, "invalid compression: %u", choice);
    *kind = kinds[choice];
    size_t size = named_size(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *end = find_ending(path, size, endings[i].text);
        if (!end) continue;
        if (choice == RECMAP_COMPRESSION_AUTO && endings[i].kind >= 0)
            *kind = (enum compression)endings[i].kind;
        int ending_size = (int)strlen(endings[i].text);
        if ((int)*kind != endings[i].kind) return fail_name(path, end, ending_size, *kind, error);
    }
    return RECMAP_OK;
}

static enum temporary_leftovers leftovers_of(const recmap_writer_options *options) {
    return options->keeps_leftovers ? LEFTOVERS_KEEP : LEFTOVERS_REMOVE;
}

void recmap_writer_remove_leftovers(const char *const *paths, size_t count) {
    temporary_remove_leftovers(paths, count);
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
    writer->is_part = index->is_part;
    if (!run_init(&writer->run, index->id_feature != NULL, index->lift_count,
                  index->counted_feature_count))
        return fail_memory(error);
    RETURN_IF_FAILED(
        packer_create(&writer->packer, options->index_path, index, leftovers_of(options), error));
    return packer_begin_shard(writer->packer, writer->path, tfrecord_framing.name, error);
}

static recmap_status begin_file(recmap_writer *writer, const char *path,
                                const recmap_writer_options *options, recmap_error *error) {
    enum compression kind = COMPRESSION_NONE;
    writer->output = (struct shard_output)SHARD_OUTPUT_INIT;
    RETURN_IF_FAILED(check_name(path, error));
    RETURN_IF_FAILED(choose_compression(&kind, path, options, error));
    RETURN_IF_FAILED(path_resolve_entry(&writer->path, path, error));
    unsigned thread_count = options->thread_count ? options->thread_count : core_count();
    RETURN_IF_FAILED(shard_output_create(&writer->output, writer->path, kind, thread_count,
                                         leftovers_of(options), error));
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
    shard_output_discard(&writer->output);
    free(writer->path);
    free(writer);
}

recmap_compression recmap_writer_get_compression(const recmap_writer *writer) {
    switch (writer->output.compression) {
    case COMPRESSION_GZIP: return RECMAP_COMPRESSION_GZIP;
    case COMPRESSION_ZLIB: return RECMAP_COMPRESSION_ZLIB;
    case COMPRESSION_NONE: break;
    }
    return RECMAP_COMPRESSION_NONE;
}

static recmap_status flush_run(recmap_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(shard_output_check_process(&writer->output, error));
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
    uint64_t offset = shard_output_size(&writer->output);
    tfrecord_make_header(header, size);
    tfrecord_make_footer(footer, data, size);
    RETURN_IF_FAILED(shard_output_append(&writer->output, header, sizeof header, error));
    RETURN_IF_FAILED(shard_output_append(&writer->output, data, size, error));
    RETURN_IF_FAILED(shard_output_append(&writer->output, footer, sizeof footer, error));
    if (!writer->packer) return RECMAP_OK;
    return index_record(writer, offset, data, size, load32(footer), error);
}

static recmap_status check_usable(const recmap_writer *writer, recmap_error *error) {
    if (writer->is_closed) {
        fail(error, RECMAP_INVALID, "the writer is closed");
    } else if (writer->failed != RECMAP_OK) {
        fail(error, RECMAP_INVALID, "an earlier write failed, so the file is not kept");
        fail_advise(error, "write all records again, with a new writer");
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

static recmap_status read_output(void *context, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    const struct shard_output *output = context;
    return file_read_at(output->file.fd, data, size, offset, output->path, error);
}

/* The seek points of a compressed shard are where its deflate blocks end, which only inflating
 * tells. That also proves that the file can be read. */
static recmap_status find_points(struct point_list *points, recmap_writer *writer,
                                 uint64_t file_size, recmap_error *error) {
    struct shard_output *output = &writer->output;
    if (output->compression == COMPRESSION_NONE) return RECMAP_OK;
    struct inflate_source source = {.size = file_size, .read = read_output, .context = output};
    return points_scan(points, output->compression, &source, shard_output_size(output),
                       writer->path, error);
}

/* Ends the shard in the index, with the file's final size and time: nothing is written after this.
 */
static recmap_status end_index(recmap_writer *writer, recmap_error *error) {
    struct file_stat stat;
    struct point_list points = {0};
    RETURN_IF_FAILED(flush_run(writer, error));
    RETURN_IF_FAILED(file_get_stat(&stat, writer->output.file.fd, writer->path, error));
    recmap_status status = find_points(&points, writer, stat.size, error);
    if (status == RECMAP_OK) {
        struct shard_end end = {.stat = temporary_final_stat(&writer->output.file, &stat),
                                .file_size = stat.size,
                                .size = shard_output_size(&writer->output),
                                .compression = writer->output.compression,
                                .mtime_ns = stat.mtime_ns,
                                .etag = "",
                                .points = &points};
        status = packer_end_shard(writer->packer, &end, NULL, error);
    }
    points_deinit(&points);
    return status;
}

static recmap_status publish_file(void *context, recmap_error *error) {
    recmap_writer *writer = context;
    return temporary_publish(&writer->output.file, error);
}

/* If only the index fails, the records are kept. */
static recmap_status check_ids(recmap_writer *writer, recmap_error *error) {
    recmap_status status = writer->is_part ? RECMAP_OK : packer_check_ids(writer->packer, error);
    if (status == RECMAP_OK) return RECMAP_OK;
    fail_file(error, writer->path);
    recmap_error problem = RECMAP_ERROR_INIT;
    if (publish_file(writer, &problem) == RECMAP_OK) return status;
    if (error) *error = problem;
    return problem.status;
}

/* The index is complete and synced before the file is published, and is published immediately
 * after it: a crash in between leaves a file without an index, but never an index without its file.
 */
static recmap_status finish_both(recmap_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(shard_output_finish(&writer->output, error));
    if (!writer->packer) return publish_file(writer, error);
    RETURN_IF_FAILED(end_index(writer, error));
    RETURN_IF_FAILED(check_ids(writer, error));
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
