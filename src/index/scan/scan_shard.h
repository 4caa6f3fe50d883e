/* A shard during a scan: which file it is, how it is framed and compressed, and its bytes. */
#ifndef RECMAP_INDEX_SCAN_SCAN_SHARD_H
#define RECMAP_INDEX_SCAN_SCAN_SHARD_H

#include "base/os/file.h"
#include "format/framing/sniff.h"
#include "format/shards/shard_bytes.h"
#include "index/scan/inflate_scan.h"
#include "index/scan/read_window.h"
#include "index/scan/scan.h"

enum shard_state { SHARD_CLOSED, SHARD_OPENING, SHARD_OPEN, SHARD_FAILED };

struct scan_shard {
    const char *path;
    size_t index; /* among the shards of the scan */
    const struct framing *framing;
    struct file_stat stat; /* when it was detected: the file may not change afterwards */
    uint64_t start, end;   /* the bytes of the file that are scanned */
    char *etag;            /* likewise; "" for a file */
    enum compression compression;
    enum shard_state state;   /* guarded by the lock of the segments */
    struct shard_bytes bytes; /* of an uncompressed shard: its file, or its copy */
    bool is_remote;
    bool is_streamed;      /* its bytes are read in order: it is remote, or cannot be mapped */
    struct source *source; /* of an uncompressed streamed shard that is open, until it is copied */
    struct read_window window; /* likewise: bytes of it */
    uint64_t ahead;            /* likewise: bytes to request together */
    uint8_t *prefix;           /* of an uncompressed streamed shard: its first bytes, or NULL */
    size_t prefix_size;
    struct inflate_scan inflated; /* of a compressed shard: the results of its scan */
    bool is_strict;               /* likewise: its stream is damaged, so it is inflated strictly */
    recmap_status status;         /* why it failed */
    recmap_error *error;          /* likewise; NULL if it did not, or without memory for it */
};

/* Detects size and compression of the shard at `path`. If that fails, the state is SHARD_FAILED. */
void scan_shard_detect(struct scan_shard *shard, const char *path, size_t index,
                       const struct scan_options *options);

/* Opens an uncompressed shard: maps a local file, or sets the source of a remote shard. Errors:
 * STALE if the file is not the detected one any more; IO. */
recmap_status scan_shard_open(struct scan_shard *shard, const struct scan_options *options,
                              recmap_error *error);

/* Opens the file of a local shard once more; STALE if it is not the detected one any more. */
recmap_status scan_shard_open_again(struct source **source, const struct scan_shard *shard,
                                    const struct scan_options *options, recmap_error *error);

/* Scans the next piece of an open remote shard, from the cursor on, and adds to `findings`.
 * `piece_end` is where the previous piece ended, and becomes the end of this one. `has_more` says
 * whether another piece follows. A piece ends early if the findings pause. At damage the shard is
 * copied to a temporary file, which is mapped as its bytes, and the next pieces are scanned there.
 * Errors: as above, and CANCELLED. */
recmap_status scan_shard_piece(bool *has_more, uint64_t *piece_end, struct scan_shard *shard,
                               const struct scan_options *options, struct scan_findings *findings,
                               struct scan_cursor *cursor, recmap_error *error);

/* Inflates and scans a compressed shard. A remote one is scanned as its bytes arrive. If it seems
 * damaged, it is read once more, a remote one to a temporary file, and that decides; if a local one
 * has other damage then, the error is IO. Errors: as above, and those
 * of inflate_scan_shard. */
recmap_status scan_shard_inflate(struct scan_shard *shard, const struct scan_options *options,
                                 struct scan_findings *findings, recmap_error *error);

/* Copies the shard's error, which is set if its status is not OK. */
void scan_shard_copy_error(recmap_error *error, const struct scan_shard *shard);

/* Keeps the error, if `status` is not OK, and sets the shard's status. An error has 5 kB, so a
 * shard has memory for one only if it needs it. */
void scan_shard_set_status(struct scan_shard *shard, recmap_status status,
                           const recmap_error *error);

/* Releases the error, after the shard was closed. */
void scan_shard_free_error(struct scan_shard *shard);

/* Releases the bytes, the seek points and the ETag. */
void scan_shard_close(struct scan_shard *shard);

struct scanner scan_shard_scanner(const struct scan_shard *shard,
                                  const struct scan_options *options);

/* Size of the bytes that hold the records: the file, or what it inflates to. */
uint64_t scan_shard_size(const struct scan_shard *shard);

/* STALE if the file changed since it was detected. */
recmap_status scan_shard_check_unchanged(const struct scan_shard *shard,
                                         const struct scan_options *options, recmap_error *error);

/* IO if the file was truncated while it was mapped. */
recmap_status scan_shard_check_whole(const struct scan_shard *shard, recmap_error *error);

/* What the file is if its first bytes belong to another kind of file than its framing's; NULL if
 * they do not, or nothing is known. */
const struct file_kind *scan_shard_other_kind(const struct scan_shard *shard);

/* What the shard should be, by its framing: "a TFRecord file". */
const char *scan_shard_due_kind(const struct scan_shard *shard);

/* Returns true if files of any kind have records in the shard's framing, so that a scan without
 * damage does not show that the framing is right. */
bool scan_shard_takes_any_bytes(const struct scan_shard *shard);

#endif
