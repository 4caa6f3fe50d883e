#include "output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/example.h>
#include <recmap/table.h>
#include <recmap/writer.h>

#include "output/partial.h"
#include "output/preview.h"
#include "output/record_file.h"
#include "output/same_file.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

static const char stdout_name[] = "standard output";
static const char other_output[] = "name another file with -o";

const char *output_path(const char *argument) {
    return strcmp(argument, "-") ? argument : NULL;
}

static const char *display_name(const struct output *output) {
    return output->path ? output->path : stdout_name;
}

/* Returns the permissions that opening the path for writing would have given the file. */
static mode_t output_mode(const struct stat *old) {
    if (old) return old->st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static recmap_status open_regular(struct output *output, const struct stat *old,
                                  recmap_error *error) {
    /* If the path is a symbolic link, its target is replaced, not the link. */
    output->target = old ? realpath(output->path, NULL) : strdup(output->path);
    if (!output->target) return message_fail_errno(error, output->path, "resolve the path");
    /* From here on, a signal must not kill the process before the temporary file is removed. */
    interrupt_watch();
    int fd = partial_create(&output->temporary, output->target, output_mode(old));
    if (fd < 0) return message_fail_errno(error, output->path, "create the file");
    output->stream = fdopen(fd, "w");
    if (output->stream) return RECMAP_OK;
    message_fail_errno(error, output->path, "create the file");
    close(fd);
    return RECMAP_IO;
}

mode_t output_denied_by(const char *source, gid_t group) {
    struct stat file;
    if (stat(source, &file) || file.st_mode & S_IROTH) return 0;
    bool has_group = file.st_mode & S_IRGRP && file.st_gid == group;
    return has_group ? S_IRWXO : S_IRWXG | S_IRWXO;
}

recmap_status output_deny(struct output *output, mode_t denied, recmap_error *error) {
    struct stat own;
    if (!output->temporary || fstat(fileno(output->stream), &own) || !(own.st_mode & denied))
        return RECMAP_OK;
    if (!fchmod(fileno(output->stream), own.st_mode & 0777 & ~denied)) return RECMAP_OK;
    return message_fail_errno(error, output->path, "set the permissions of the file");
}

gid_t output_group(const struct output *output) {
    struct stat own;
    return output->temporary && !fstat(fileno(output->stream), &own) ? own.st_gid : getegid();
}

static recmap_status open_path(struct output *output, recmap_error *error) {
    struct stat old;
    bool exists = !stat(output->path, &old);
    if (!exists && errno != ENOENT) return message_fail_errno(error, output->path, "stat the file");
    if (!exists || S_ISREG(old.st_mode)) return open_regular(output, exists ? &old : NULL, error);
    output->stream = fopen(output->path, "w");
    if (output->stream) return RECMAP_OK;
    return message_fail_errno(error, output->path, "open the file");
}

int output_check_input(const char *path, const char *input, const char *role) {
    struct stat file;
    if (!path || stat(path, &file) || !S_ISREG(file.st_mode) || !same_file(input, &file)) return 0;
    return message_error(RECMAP_INVALID, path, other_output, "is %s and would be overwritten",
                         role);
}

int output_check(const char *path, const char *index_path, const recmap_dataset *dataset) {
    struct stat file;
    if (!path || stat(path, &file)) return 0;
    int exit_status = output_check_input(path, index_path, "the index itself");
    if (exit_status) return exit_status;
    uint64_t count = recmap_dataset_get_info(dataset)->shard_count;
    for (uint64_t i = 0; i < count; i++) {
        char shard[PATH_MAX];
        if (recmap_dataset_shard_path(shard, sizeof shard, dataset, i, NULL) == RECMAP_OK &&
            same_file(shard, &file))
            return message_error(RECMAP_INVALID, path, other_output,
                                 "is one of the shards and would be overwritten");
    }
    if (record_file_exists(path))
        return message_error(RECMAP_INVALID, path, "remove it, or name another file with -o",
                             "exists already and has records");
    return 0;
}

/* If the path exists but is not a folder, creating a file in it reports the error. */
int output_create_folder(const char *folder) {
    if (!mkdir(folder, 0777) || errno == EEXIST) return 0;
    recmap_error error = RECMAP_ERROR_INIT;
    message_fail_errno(&error, folder, "create the folder");
    return message_print(&error);
}

/* Rejects a name that says that the file is compressed, except for raw payloads, which may be. */
static recmap_status check_name(const char *path, enum output_format format, recmap_error *error) {
    static const char *const endings[] = {".gz", ".gzip", ".zlib", ".bz2", ".xz", ".zst", ".lz4"};
    size_t size = path ? strlen(path) : 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && format != OUTPUT_RAW; i++) {
        size_t ending_size = strlen(endings[i]);
        if (size < ending_size || strcasecmp(path + size - ending_size, endings[i]) != 0) continue;
        return message_fail(error, RECMAP_INVALID, path,
                            "`recmap cat` without --format writes compressed TFRecord files to "
                            "NAME.tfrecord.gz or NAME@N.gz; otherwise pipe the output into a "
                            "compressor",
                            "the name ends in %s, but the file would not be compressed",
                            path + size - ending_size);
    }
    return RECMAP_OK;
}

recmap_status output_open(struct output *output, const char *path, enum output_format format,
                          recmap_error *error) {
    memset(output, 0, sizeof *output);
    bool is_terminal = !path && isatty(STDOUT_FILENO) == 1;
    const char *no_colour = getenv("NO_COLOR");
    output->path = path;
    output->has_colour = is_terminal && !(no_colour && *no_colour);
    output->format = format;
    RETURN_IF_FAILED(check_name(path, format, error));
    if (format == OUTPUT_DEFAULT) output->format = is_terminal ? OUTPUT_PREVIEW : OUTPUT_RAW;
    if (path) return open_path(output, error);
    output->stream = stdout;
    return RECMAP_OK;
}

static bool write_all(FILE *stream, const void *data, size_t size) {
    return !size || fwrite(data, 1, size, stream) == size;
}

static bool write_frame(FILE *stream, const recmap_record *record) {
    recmap_frame frame = recmap_frame_of(record->data, record->size);
    return write_all(stream, frame.header, sizeof frame.header) &&
           write_all(stream, record->data, record->size) &&
           write_all(stream, frame.footer, sizeof frame.footer);
}

static recmap_status to_json(struct output *output, const recmap_record *record,
                             recmap_error *error) {
    if (output->message_type)
        return recmap_message_to_json(&output->text, output->message_type, record, error);
    if (output->dataset)
        return recmap_dataset_record_to_json(&output->text, output->dataset, record, error);
    return recmap_record_to_json(&output->text, record, error);
}

static recmap_status write_json(struct output *output, const recmap_record *record,
                                bool *is_written, recmap_error *error) {
    output->text.size = 0;
    RETURN_IF_FAILED(to_json(output, record, error));
    *is_written = write_all(output->stream, output->text.data, output->text.size) &&
                  putc('\n', output->stream) != EOF;
    return RECMAP_OK;
}

recmap_status output_write(struct output *output, const recmap_record *record,
                           recmap_error *error) {
    bool is_written = false;
    recmap_status status = RECMAP_OK;
    if (interrupt_is_pending()) return interrupt_fail(error);
    switch (output->format) {
    case OUTPUT_NUMBER:
        is_written = fprintf(output->stream, "%" PRIu64 "\n", record->number) > 0;
        break;
    case OUTPUT_TFRECORD: is_written = write_frame(output->stream, record); break;
    case OUTPUT_JSON: status = write_json(output, record, &is_written, error); break;
    case OUTPUT_PREVIEW:
        if (output->message_type) {
            status = write_json(output, record, &is_written, error);
            break;
        }
        status = preview_print(output, record, error);
        is_written = !ferror(output->stream);
        break;
    case OUTPUT_DEFAULT:
    case OUTPUT_RAW: is_written = write_all(output->stream, record->data, record->size); break;
    }
    if (status != RECMAP_OK) return status;
    return is_written ? RECMAP_OK : message_fail_errno(error, display_name(output), "write");
}

recmap_status output_finish(struct output *output, recmap_error *error) {
    errno = 0;
    if (fflush(output->stream) || ferror(output->stream)) {
        if (!errno) errno = EIO; /* an earlier write failed */
        return message_fail_errno(error, display_name(output), "write");
    }
    if (!output->temporary) return RECMAP_OK;
    if (fsync(fileno(output->stream)))
        return message_fail_errno(error, output->path, "sync the file");
    if (rename(output->temporary, output->target))
        return message_fail_errno(error, output->path, "rename the finished file");
    free(output->temporary);
    output->temporary = NULL;
    return RECMAP_OK;
}

void output_close(struct output *output) {
    if (output->temporary) unlink(output->temporary);
    if (output->stream && output->stream != stdout) fclose(output->stream);
    free(output->temporary);
    free(output->target);
    recmap_text_deinit(&output->text);
    memset(output, 0, sizeof *output);
}

int output_check_stdout(int exit_status) {
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout)) return exit_status;
    /* An I/O error was printed already. */
    if (exit_status == recmap_status_exit(RECMAP_IO)) return exit_status;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!errno) errno = EIO;
    message_fail_errno(&error, stdout_name, "write");
    return message_print(&error);
}
