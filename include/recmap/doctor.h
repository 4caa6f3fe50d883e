/* What is wrong with a data set, found before it costs a training run.
 *
 *     recmap_diagnosis *diagnosis;
 *     size_t count = recmap_dataset_count(dataset);
 *     if (recmap_dataset_examine(&diagnosis, dataset, NULL, count, NULL, &error) == RECMAP_OK) {
 *         for (size_t i = 0; i < recmap_diagnosis_count(diagnosis); i++)
 *             puts(recmap_diagnosis_finding(diagnosis, i).message);
 *         recmap_diagnosis_destroy(diagnosis);
 *     }
 *
 * docs/guide/doctor.md describes each check. */
#ifndef RECMAP_DOCTOR_H
#define RECMAP_DOCTOR_H

#include <recmap/dataset.h>
#include <recmap/image_decoder.h>
#include <recmap/shards.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum recmap_severity {
    RECMAP_SEVERITY_NONE = 0,    /* nothing was found */
    RECMAP_SEVERITY_NOTE = 1,    /* good to know; also sound data sets have this */
    RECMAP_SEVERITY_WARNING = 2, /* probably not meant, or costs accuracy or time */
    RECMAP_SEVERITY_ERROR = 3,   /* reading or training fails, or uses wrong data */
} recmap_severity;

/* "none", "note", "warning" or "error". A static string. */
RECMAP_API const char *recmap_severity_name(recmap_severity severity);

typedef struct recmap_doctor_options {
    uint32_t version;  /* RECMAP_DOCTOR_OPTIONS_VERSION */
    int index_only;    /* not 0: read no record, only the index, the names of the shards, and the
                          metadata of TFDS beside them */
    uint64_t sample;   /* how many records are read, from all parts; 0: all */
    int lists_records; /* not 0: also list the records that findings are about, for
                          recmap_diagnosis_records. Records are then read twice */
    int is_joined;     /* not 0: the data set joins sets that will be opened one by one, so the
                          records of each set are numbered from 0 in findings */
    unsigned thread_count;                /* 0: one per core. What is found does not depend on it */
    const recmap_shards *shards;          /* NULL, or the shards of the data set as the caller named
                                             them: findings use these names */
    const recmap_image_decoder *decoders; /* of other pictures than recmap's own; see image.h */
    size_t decoder_count;
    recmap_progress_fn progress; /* or NULL */
    void *progress_context;
} recmap_doctor_options;

#define RECMAP_DOCTOR_OPTIONS_VERSION 1
#define RECMAP_DOCTOR_OPTIONS_INIT                                                                 \
    { RECMAP_DOCTOR_OPTIONS_VERSION, 0, 0, 0, 0, 0, NULL, NULL, 0, NULL, NULL }

/* What an examination found. Threads: any, once it is complete. */
typedef struct recmap_diagnosis recmap_diagnosis;

/* Examines `count` records, given by their numbers. `numbers` may be NULL for records 0 to
 * count - 1. The names of the shards, their metadata and the index are always examined as a whole.
 * NULL options are the defaults. The caller destroys the diagnosis.
 *
 * Whatever is wrong with the data is a finding, also records that cannot be read and shards that
 * are missing. At most 100 findings of each check are listed one by one. Memory: about a kilobyte
 * for each feature (of at most 65,536); up to 160 MiB to find equal records (256 if nearly all are
 * equal): beyond 4 million records, every second, fourth, ... record is compared, chosen by its
 * contents, so that equal records are still found together; 32 MiB to find repeated ids, which are
 * not looked for in more than 4 million records; 8 bytes for each record that is listed, of at most
 * 16 million; half a MiB for each thread; and the records that are examined at a time: 16 MiB, or
 * one that is larger.
 *
 * Errors: INVALID if a number is out of range; CORRUPT (the index); IO if a remote store fails;
 * NO_MEMORY; CANCELLED by the progress function. Cost: one pass over the records, which several
 * threads read and examine, and over 64 more if `numbers` are not all; pictures are decoded
 * completely. With index_only the cost depends only
 * on the number of shards and their seek points. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_dataset_examine(
    recmap_diagnosis **diagnosis, recmap_dataset *dataset, const uint64_t *numbers, size_t count,
    const recmap_doctor_options *options, recmap_error *error);

/* Examines shards without an index: their names, and the metadata of TFDS beside them. No shard is
 * read. Of the options only the version is used. Errors: NO_MEMORY, CANCELLED. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_shards_examine(recmap_diagnosis **diagnosis, const recmap_shards *shards,
                      const recmap_doctor_options *options, recmap_error *error);

/* NULL may be destroyed. */
RECMAP_API void recmap_diagnosis_destroy(recmap_diagnosis *diagnosis);

/* Strings live as long as the diagnosis. */
typedef struct recmap_finding {
    const char *check; /* the check that found it, such as "equal_records". A static string */
    recmap_severity severity;
    const char *shard;    /* the path of the shard of the record, or of the file that is meant; NULL
                             if the finding is about no single file */
    uint64_t record;      /* the first record that is meant, by its number in the data set, or its
                             position in `numbers`; or RECMAP_NO_RECORD */
    const char *message;  /* one line, without what must not reach a terminal */
    const char *advice;   /* the same: what to do */
    uint64_t reserved[4]; /* 0; room for later versions */
} recmap_finding;

/* The findings: errors first, then warnings, then notes. */
RECMAP_API size_t recmap_diagnosis_count(const recmap_diagnosis *diagnosis);
RECMAP_API recmap_finding recmap_diagnosis_finding(const recmap_diagnosis *diagnosis,
                                                   size_t finding_index);

/* The severity of the worst finding. */
RECMAP_API recmap_severity recmap_diagnosis_severity(const recmap_diagnosis *diagnosis);

/* How many records were read. */
RECMAP_API uint64_t recmap_diagnosis_read_count(const recmap_diagnosis *diagnosis);

/* With options.lists_records: the records that errors and warnings are about, ascending, by their
 * numbers in the data set or their positions in `numbers`. At most 16 million. */
RECMAP_API size_t recmap_diagnosis_record_count(const recmap_diagnosis *diagnosis);
RECMAP_API const uint64_t *recmap_diagnosis_records(const recmap_diagnosis *diagnosis);

/* Appends {"findings": [{"check", "severity", "shard", "record", "message", "advice"}], "records",
 * "records_read"}, with null for a shard or record that is not there. Paths are as in
 * recmap_dataset_info_to_json. Errors: NO_MEMORY; the text is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_diagnosis_to_json(recmap_text *text, const recmap_diagnosis *diagnosis, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
