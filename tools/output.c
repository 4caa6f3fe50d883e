#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/example.h>
#include <recmap/writer.h>

#include "interrupt.h"
#include "message.h"
#include "preview.h"

static const char stdout_name[] = "standard output";

bool output_format_of(output_format *format, const char *name) {
    static const struct {
        const char *name;
        output_format format;
    } formats[] = {{"raw", OUTPUT_RAW},
                   {"tfrecord", OUTPUT_TFRECORD},
                   {"json", OUTPUT_JSON},
                   {"number", OUTPUT_NUMBER}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name)) continue;
        *format = formats[i].format;
        return true;
    }
    return false;
}

static const char *name_of(const tool_output *output) {
    return output->path ? output->path : stdout_name;
}

/* The rights that writing to the path itself would leave. */
static mode_t mode_for(const struct stat *old) {
    if (old) return old->st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Creates the file under its temporary name; `temporary` ends with XXXXXX. */
static recmap_status create_temporary(tool_output *output, char *temporary, mode_t mode,
                                      recmap_error *error) {
    int fd = mkstemp(temporary);
    if (fd < 0) return message_fail_errno(error, output->path, "create the file");
    if (!fchmod(fd, mode)) output->stream = fdopen(fd, "w");
    if (output->stream) return RECMAP_OK;
    message_fail_errno(error, output->path, "create the file");
    unlink(temporary);
    close(fd);
    return RECMAP_IO;
}

static recmap_status open_regular(tool_output *output, const struct stat *old,
                                  recmap_error *error) {
    /* A link stays a link: the file behind it is replaced. */
    output->target = old ? realpath(output->path, NULL) : strdup(output->path);
    if (!output->target) return message_fail_errno(error, output->path, "resolve the path");
    size_t size = strlen(output->target) + sizeof ".tmp-XXXXXX";
    char *temporary = malloc(size);
    if (!temporary) return message_fail_errno(error, output->path, "create the file");
    snprintf(temporary, size, "%s.tmp-XXXXXX", output->target);
    /* From here on a signal must not end the process before the file is removed. */
    interrupt_watch();
    recmap_status status = create_temporary(output, temporary, mode_for(old), error);
    if (status == RECMAP_OK) output->temporary = temporary;
    else free(temporary);
    return status;
}

static recmap_status open_path(tool_output *output, recmap_error *error) {
    struct stat old;
    bool exists = !stat(output->path, &old);
    if (!exists && errno != ENOENT)
        return message_fail_errno(error, output->path, "look at the file");
    if (!exists || S_ISREG(old.st_mode)) return open_regular(output, exists ? &old : NULL, error);
    output->stream = fopen(output->path, "w");
    if (output->stream) return RECMAP_OK;
    return message_fail_errno(error, output->path, "open the file");
}

recmap_status output_open(tool_output *output, const char *path, output_format format,
                          recmap_error *error) {
    memset(output, 0, sizeof *output);
    bool is_terminal = !path && isatty(STDOUT_FILENO) == 1;
    const char *no_colour = getenv("NO_COLOR");
    output->path = path;
    output->has_colour = is_terminal && !(no_colour && *no_colour);
    output->format = format;
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

static recmap_status write_json(tool_output *output, const recmap_record *record, bool *is_written,
                                recmap_error *error) {
    output->text.size = 0;
    recmap_status status = recmap_record_to_json(&output->text, record, error);
    if (status != RECMAP_OK) return status;
    if (output->format == OUTPUT_PREVIEW) {
        preview_print(output->stream, record, output->text.data, output->has_colour);
        *is_written = !ferror(output->stream);
    } else {
        *is_written = write_all(output->stream, output->text.data, output->text.size) &&
                      putc('\n', output->stream) != EOF;
    }
    return RECMAP_OK;
}

recmap_status output_write(tool_output *output, const recmap_record *record, recmap_error *error) {
    bool is_written = false;
    recmap_status status = RECMAP_OK;
    if (interrupt_came()) return interrupt_fail(error);
    switch (output->format) {
    case OUTPUT_NUMBER:
        is_written = fprintf(output->stream, "%llu\n", (unsigned long long)record->number) > 0;
        break;
    case OUTPUT_TFRECORD: is_written = write_frame(output->stream, record); break;
    case OUTPUT_JSON:
    case OUTPUT_PREVIEW: status = write_json(output, record, &is_written, error); break;
    case OUTPUT_DEFAULT:
    case OUTPUT_RAW: is_written = write_all(output->stream, record->data, record->size); break;
    }
    if (status != RECMAP_OK) return status;
    return is_written ? RECMAP_OK : message_fail_errno(error, name_of(output), "write");
}

recmap_status output_finish(tool_output *output, recmap_error *error) {
    if (fflush(output->stream)) return message_fail_errno(error, name_of(output), "write");
    if (!output->temporary) return RECMAP_OK;
    if (fsync(fileno(output->stream)))
        return message_fail_errno(error, output->path, "sync the file");
    if (rename(output->temporary, output->target))
        return message_fail_errno(error, output->path, "rename the finished file");
    free(output->temporary);
    output->temporary = NULL;
    return RECMAP_OK;
}

void output_close(tool_output *output) {
    if (output->temporary) unlink(output->temporary);
    if (output->stream && output->stream != stdout) fclose(output->stream);
    free(output->temporary);
    free(output->target);
    recmap_text_free(&output->text);
    memset(output, 0, sizeof *output);
}

int output_check_stdout(int exit_status) {
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout)) return exit_status;
    /* What failed before has been said. */
    if (exit_status == recmap_status_exit(RECMAP_IO)) return exit_status;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!errno) errno = EIO;
    message_fail_errno(&error, stdout_name, "write");
    return recmap_error_print(&error, stderr);
}
