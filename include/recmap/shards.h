/* A list of shard files, given as files, glob patterns, folders and list files. */
#ifndef RECMAP_SHARDS_H
#define RECMAP_SHARDS_H

#include <recmap/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of shard paths. Threads: a list belongs to one thread at a time. */
typedef struct recmap_shards recmap_shards;

/* Creates an empty list, which the caller destroys. NULL may be destroyed. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_create(recmap_shards **shards,
                                                               recmap_error *error);
RECMAP_API void recmap_shards_destroy(recmap_shards *shards);

/* How to reach the remote stores that added names refer to. NULL, as before the call: the defaults.
 * The list keeps the storage. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_set_storage(recmap_shards *shards,
                                                                    recmap_storage *storage,
                                                                    recmap_error *error);

/* What to do about several sets of shards in one folder. */
typedef enum recmap_sets {
    RECMAP_SETS_ERROR = 0, /* an error that lists them */
    RECMAP_SETS_ALL = 1    /* join them */
} recmap_sets;

/* Chooses which sets the names that are added afterwards stand for. Files NAME-K-of-N[END] are a
 * set. So are files that are named train, test, validation, val, valid, dev, eval, training or
 * testing, or whose names end in that, apart from numbers and suffixes, or begin with that and -,
 * _, . or a space, or add a capital letter to it; other files of each folder that is named so; and
 * all others of a folder or pattern. A set that is there plain and compressed, or split in two ways
 * (x@2 and x@4), counts as two, and so does a file with a copy that a program left beside it, such
 * as "x (1).tfrecord". By default, several sets in a folder are an error, because one of them is
 * often the test set; several that match a pattern give a warning. Names of files and sets that are
 * added one by one are meant, so only two copies of one set are an error. RECMAP_SETS_ALL joins
 * whatever there is.
 *
 * With a split, only files whose names are `split`, or end in it after -, _, . or a space, are
 * added; and, of a pattern, files whose names have no split in folders of that name after the first
 * wildcard. NULL: all. A name without such files is an error. Errors: INVALID; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_choose_sets(recmap_shards *shards,
                                                                    const char *split,
                                                                    recmap_sets sets,
                                                                    recmap_error *error);

/* How records are stored in the files that the names added afterwards stand for: the framing that
 * their index is built with; NULL, as before the call, means "auto". With "lines", text files are
 * the shards of a folder that has some. */
RECMAP_API void recmap_shards_set_framing(recmap_shards *shards, const char *framing);

/* Adds the shards that `name` stands for. An existing file of that name takes precedence over the
 * other meanings:
 *
 *     FILE                an existing file: itself, in the order given;
 *     GLOB (* ? [..])     the matching files, except indexes, selections and temporary files, and
 *                         except documents, metadata and checksums unless nothing else matches, in
 *                         natural order (part-2 before part-10). A component `**` means any number
 *                         of folders, including none, but not hidden folders or links to folders.
 *                         At the end, `*` and `**` match no text files beside shards of records;
 *     FOLDER              the regular files in it that can be shards, in natural order: not hidden
 *                         files, `_...`, indexes, selections, temporary files, documents (README,
 *                         `*.md`), metadata (`*.json`, `*.pbtxt`, `*.idx`) and checksums. Text
 *                         files (`*.txt`, `*.csv`, `*.jsonl`) only if the framing is lines, and
 *                         then only they; or if the folder has no others. If the others do not
 *                         have names of shards (`*.tfrecord`, `*-00000-of-00002`, ...), their
 *                         contents decide;
 *     NAME@N[END]         the N files NAME-00000-of-0000N[END] and so on, as TFX and others name
 *                         the shards of a set; all must exist;
 *     @LISTFILE           one of these names per line; empty lines and lines that begin with # are
 *                         skipped; relative names are relative to the list file's folder;
 *     URL                 an object in a remote store (storage.h). s3://, gs:// and az:// may
 *                         also be patterns, or folders if they end with a slash; all may be sets.
 *
 * Temporary files, which are shards only if they are named themselves, are what writers leave when
 * they are killed: `*.tmp`, `*.tmp-<16 hex digits>` (as recmap writes), `*~`, `*.crc`, `_SUCCESS`,
 * `*.incomplete` and `incomplete.*` of TFDS, `*.inprogress` of Flink, `*._COPYING_` of Hadoop,
 * `*_.gstmp`, the names of downloads (`*.part`, `*.partial`, `*.filepart`, `*.download`,
 * `*.crdownload`, `*.aria2`), `*.temp`, and all files in the folders that Spark
 * (`_temporary`), TFDS and Beam (`beam-temp-...`) write to, unless the folder is named before the
 * first wildcard.
 *
 * Symbolic links to files count as files, even broken ones: reading them reports what is missing.
 * The shard has the name of the link, as in the cache of a hub or in an annex.
 *
 * Errors: INVALID if nothing exists or matches, naming it, if a folder has several sets (see
 * recmap_shards_choose_sets), or if it has text files and others, and none is known to be a shard;
 * IO if a folder, list file or remote store cannot be read. Objects that are named without a
 * pattern are not looked for. The list is then unchanged. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_add(recmap_shards *shards, const char *name,
                                                            recmap_error *error);

/* Adds the shards that are to be written as `name`, which need not exist: all N of NAME@N[END], or
 * the file with another name. Nothing else has a meaning here. Errors: INVALID for NAME@N or
 * NAME@N.END if no set can have N shards; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_add_planned(recmap_shards *shards,
                                                                    const char *name,
                                                                    recmap_error *error);

/* The number of shards. */
RECMAP_API size_t recmap_shards_count(const recmap_shards *shards);

/* Returns 1 if there is one shard, and it is meant to be alone: the name that was added is the
 * file's, or a pattern with the number of the shard, such as x-00003*. */
RECMAP_API int recmap_shards_name_one(const recmap_shards *shards);

/* The path of shard `index`, as named or found. NULL if out of range. Valid until the next add. */
RECMAP_API const char *recmap_shards_path(const recmap_shards *shards, size_t index);

/* Files in added folders, or that a pattern matches, that were left out: hidden, temporary and
 * companion files such as _SUCCESS, but not recmap's indexes. In natural order for each name that
 * was added. Paths as above. */
RECMAP_API size_t recmap_shards_left_out_count(const recmap_shards *shards);
RECMAP_API const char *recmap_shards_left_out_path(const recmap_shards *shards, size_t index);

/* Notes about files left out that may have been meant: those that match a pattern, but have
 * temporary names; backups of shards (x.bak); text files beside files of unknown names, or the
 * reverse. One line each, which names some. */
RECMAP_API size_t recmap_shards_left_out_note_count(const recmap_shards *shards);
RECMAP_API const char *recmap_shards_left_out_note(const recmap_shards *shards, size_t index);

/* The web URLs with a query, such as presigned URLs, which recmap_shards_path gives without it.
 * They are secrets. A storage that was set with recmap_shards_set_storage has them already; add
 * them to any other that is to read the shards, with recmap_storage_add_url. Paths as above. */
RECMAP_API size_t recmap_shards_signed_count(const recmap_shards *shards);
RECMAP_API const char *recmap_shards_signed_url(const recmap_shards *shards, size_t index);

/* Warnings about added names: of patterns that match several sets. One line each. */
RECMAP_API size_t recmap_shards_warning_count(const recmap_shards *shards);
RECMAP_API const char *recmap_shards_warning(const recmap_shards *shards, size_t index);

/* The default path of the index of these shards, in the folder of the first shard, or in the
 * current folder if that is named by a URL. It has the name of the set, without -K-of-N and without
 * the suffixes .tfrecord, .tfrecords and .recordio; of one file, the file's; of other files, the
 * words with which their names begin, without numbers at the end, or the name of their folder if
 * they have none in common; plus `.rmx`. Writes at most `capacity` bytes including the NUL. Errors:
 * INVALID for an empty list or if `capacity` is too small. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_index_path(char *path, size_t capacity,
                                                                   const recmap_shards *shards,
                                                                   recmap_error *error);

/* The default path by the rules of recmap 0.2.0. Errors: as above. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_old_index_path(char *path, size_t capacity,
                                                                       const recmap_shards *shards,
                                                                       recmap_error *error);

/* The path of the index to open, extend or build for these shards: recmap_shards_index_path; but if
 * no file has that path, and the index at recmap_shards_old_index_path has these shards or some of
 * them, and no others, its path. If that is not so either, the path of an index in the same folder
 * that has or once had a default name, has all or some of the shards and no others, and is older
 * than all shards that it lacks: new shards may change the default name. If there are several such
 * indexes or several sets of shards, or one of these shards is older, the path is the first, and a
 * warning (recmap/warning.h) names the index that is not used. Errors: as above, NO_MEMORY,
 * CANCELLED. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_shards_find_index(char *path, size_t capacity,
                                                                   const recmap_shards *shards,
                                                                   recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
