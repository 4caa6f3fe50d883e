/* Writes records to a file or standard output, in one of several formats. */
#ifndef RECMAP_TOOLS_OUTPUT_OUTPUT_H
#define RECMAP_TOOLS_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <recmap/dataset.h>
#include <recmap/message.h>
#include <recmap/text.h>

/* From OUTPUT_RAW on, the choices of --format. */
enum output_format {
    OUTPUT_DEFAULT, /* raw to a file or pipe, a preview to a terminal */
    OUTPUT_RAW,
    OUTPUT_TFRECORD,
    OUTPUT_JSON,
    OUTPUT_NUMBER,
    OUTPUT_PREVIEW,
};

/* The file that the argument of -o names; NULL, standard output, for "-". */
const char *output_path(const char *argument);

/* A regular file is written under a temporary name and renamed by output_finish. Until then signals
 * are only recorded, and output_write returns CANCELLED after one. FIFOs and devices are written
 * directly. */
struct output {
    FILE *stream;
    const char *path; /* as given by the user; NULL: stdout */
    char *target;     /* the file to replace; NULL: written directly */
    char *temporary;  /* path of the temporary file */
    enum output_format format;
    bool has_colour;
    recmap_dataset *dataset; /* of the records, which tells what they are; or NULL: tf.Examples */
    const recmap_message_type *message_type; /* what OUTPUT_JSON writes instead; or NULL */
    recmap_text text;
};

/* Checks that `path` (NULL: stdout) is neither the index, nor one of its shards, nor another file
 * of records. Returns 0, or the exit status after printing the error. */
int output_check(const char *path, const char *index_path, const recmap_dataset *dataset);

/* Checks that `path` (NULL: stdout) is not the file `input`, whose role `role` names. A terminal or
 * other device can be both. Returns 0, or the exit status after printing the error. */
int output_check_input(const char *path, const char *input, const char *role);

/* Creates the folder of the outputs unless it exists; not the folders above it. Returns 0, or the
 * exit status after printing the error. */
int output_create_folder(const char *folder);

/* Refuses names that end in .gz or the like, since nothing is compressed, unless `format` is
 * OUTPUT_RAW. Close the output also after an error. */
recmap_status output_open(struct output *output, const char *path, enum output_format format,
                          recmap_error *error);

/* The permissions that a file of this group must not have, so that nobody but its owner can read it
 * who cannot read the file at `source`. None if there is no such file, as for URLs. */
mode_t output_denied_by(const char *source, gid_t group);

/* Takes these permissions from a new or replaced file. */
recmap_status output_deny(struct output *output, mode_t denied, recmap_error *error);
gid_t output_group(const struct output *output);

/* With OUTPUT_NUMBER only record->number is used. */
recmap_status output_write(struct output *output, const recmap_record *record, recmap_error *error);

/* Flushes, syncs and renames the file. Close the output afterwards. */
recmap_status output_finish(struct output *output, recmap_error *error);

/* Closes the output and frees its memory. Removes a file that was not finished. */
void output_close(struct output *output);

/* Flushes stdout. Returns `exit_status`, or after an I/O error, which it prints, the status for
 * it. */
int output_check_stdout(int exit_status);

#endif
