/* Where records go, and how they are written. */
#ifndef RECMAP_OUTPUT_H
#define RECMAP_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include <recmap/dataset.h>
#include <recmap/text.h>

enum output_format {
    OUTPUT_DEFAULT, /* raw into a file or pipe, a preview on a terminal */
    OUTPUT_RAW,
    OUTPUT_TFRECORD,
    OUTPUT_JSON,
    OUTPUT_NUMBER,
    OUTPUT_PREVIEW,
};

/* False for a name that is none of raw, tfrecord, json, number. */
bool output_format_parse(enum output_format *format, const char *name);

/* A file appears whole, by renaming, when it is finished; signals are watched meanwhile, and
 * writing after one is CANCELLED. What is no regular file (a FIFO, a device) is written to as it
 * is. */
struct output {
    FILE *stream;
    const char *path; /* as the user named it; NULL: stdout */
    char *target;     /* the file to replace; NULL: written in place */
    char *temporary;  /* where its bytes are until then */
    enum output_format format;
    bool has_colour;
    recmap_text text;
};

/* What is written must replace neither the index nor a shard. Returns 0, or the exit status of
 * wrong usage after saying so. Nothing is wrong with a `path` of NULL. */
int output_check(const char *path, const char *index_path, const recmap_dataset *dataset);

/* After an error too, the output is to be closed. */
recmap_status output_open(struct output *output, const char *path, enum output_format format,
                          recmap_error *error);

/* OUTPUT_NUMBER needs nothing of the record but its number. */
recmap_status output_write(struct output *output, const recmap_record *record, recmap_error *error);

/* Brings all bytes to their place. The output is still to be closed. */
recmap_status output_finish(struct output *output, recmap_error *error);

/* Frees what the output holds; a file that was not finished vanishes. */
void output_close(struct output *output);

/* Whether stdout took all that was written to it; says so otherwise. Returns the exit status. */
int output_check_stdout(int exit_status);

#endif
