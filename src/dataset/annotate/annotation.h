/* The internals of an annotation, shared by the files of this folder. */
#ifndef RECMAP_DATASET_ANNOTATE_ANNOTATION_H
#define RECMAP_DATASET_ANNOTATE_ANNOTATION_H

#include <recmap/annotation.h>

#include "base/os/file.h"
#include "base/os/lock_file.h"
#include "index/build/idsort.h"
#include "index/tables/index.h"
#include "index/tables/text_set.h"

/* A column of the new index. `rows` pairs a row key with a word: an int64, the bits of a float, or
 * the code of a text. The key is twice the record number, plus 1 if the row has no value. The
 * sorter orders rows by key. */
struct new_column {
    char *name;
    char *default_value; /* or NULL */
    size_t old_column;   /* of the old index, or NOT_OLD */
    recmap_type type;    /* of a column that is not old */
    bool is_lifted;      /* not old, and its values come from the records */
    bool is_nullable;    /* not old, and records may lack a value even without a default */
    struct idsort *rows;
    struct text_set *texts;   /* of a column of bytes */
    char *path;               /* of the file that the values are read from, or NULL */
    recmap_error *warning;    /* about the values of that file, or NULL */
    recmap_key key;           /* of that file */
    uint64_t row_count;       /* rows added so far, with those that have no value */
    uint64_t unmatched_count; /* rows whose key no record has; they are not added */
    recmap_error *unmatched;  /* about the first of them, or NULL */
    bool ignores_unmatched;
};

#define NOT_OLD SIZE_MAX

/* Keys of rows have 48 bits. */
#define ROW_NUMBER_MAX ((UINT64_C(1) << 47) - 1)

struct recmap_annotation {
    recmap_dataset *dataset;
    struct index_file *index; /* opened while the lock is held */
    char *path;
    struct new_column *columns;
    size_t column_count, column_capacity;
    uint64_t *found; /* numbers of the records with one id */
    size_t found_capacity;
    struct lock_file lock;
    int replaced_fd; /* keeps the inode number of the old index from being used again */
    struct file_stat replaced;
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
    recmap_progress reported; /* the last report */
    uint64_t asked_ns;
    bool is_nullable;       /* of the columns that are added next */
    bool ignores_unmatched; /* the same */
    bool is_closed;         /* finished, or failed */
};

/* Progress is reported after this many rows. */
enum { REPORT_ROWS = 1 << 16 };

/* Reports progress; CANCELLED if the callback says so. */
recmap_status annotation_report(recmap_annotation *annotation, uint64_t done, uint64_t total,
                                uint64_t row_count, recmap_error *error);

/* The progress callback as an interrupt function, for what takes long between two reports. */
int annotation_ask(void *annotation);

/* Adds a column, which column_rows_add then fills. Copies the strings; `default_value`
 * may be NULL. */
recmap_status annotation_add_column(struct new_column **column, recmap_annotation *annotation,
                                    const char *name, const char *default_value,
                                    recmap_error *error);

/* Sets the type of a column that has none. INVALID if the default is not of that type. */
recmap_status annotation_set_type(recmap_annotation *annotation, struct new_column *column,
                                  recmap_type type, recmap_error *error);

#endif
