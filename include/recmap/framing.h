/* Custom framings: a function that says how records are stored in a file. */
#ifndef RECMAP_FRAMING_H
#define RECMAP_FRAMING_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The position of a record within its frame. Frames follow each other without gaps. */
typedef struct recmap_frame_place {
    uint64_t size;        /* of the whole frame, at least 1 */
    uint64_t data_offset; /* of the record, from the frame's start */
    uint64_t data_size;   /* of the record */
} recmap_frame_place;

typedef enum recmap_frame_verdict {
    RECMAP_FRAME_GOOD = 0,
    RECMAP_FRAME_END = 1, /* no record follows; the remaining bytes belong to no record */
    RECMAP_FRAME_BAD = 2, /* damage: the rest is lost, except for frames that `find` finds */
} recmap_frame_verdict;

/* Why a frame is bad, for people; one line. */
typedef struct recmap_frame_fault {
    char reason[160];
} recmap_frame_fault;

/* A framing. Its functions must be pure: the same bytes give the same result, on any thread, on
 * many threads at once. They must not read outside the given bytes. The library checks their
 * results against the bytes that exist. */
typedef struct recmap_framing {
    uint32_t version; /* RECMAP_FRAMING_VERSION */
    const char *name; /* letters, digits, `_` and `-`, at most 63; stored in the index */
    void *context;    /* passed to the functions */

    /* Bytes at the beginning and at the end of each file that are not records. */
    uint64_t file_header_size;
    uint64_t file_footer_size;

    /* Examines the frame that begins at bytes[0]. Sets `frame` if it is good, and gives the reason
     * in `fault` if it is bad.
     *
     * During a scan, `size` covers all bytes up to the end of the file or, for a compressed file,
     * all bytes inflated so far. If the frame is then bad or reaches the end of these bytes, the
     * function is called again with more bytes. When a single record is read, the bytes are its
     * frame alone, and the result must be the same. */
    recmap_frame_verdict (*parse)(recmap_frame_place *frame, const uint8_t *bytes, size_t size,
                                  recmap_frame_fault *fault, void *context);

    /* Returns the first offset in [from, limit) at which a frame begins, or UINT64_MAX if there is
     * none. bytes[0] is the file's first byte or, in a compressed file, the beginning of some
     * frame. This function lets many threads scan one file, and allows a resync after damage. If it
     * is NULL, one thread scans a file from its beginning, and damage reaches to the file's end. */
    uint64_t (*find)(const uint8_t *bytes, size_t size, uint64_t from, uint64_t limit,
                     void *context);
} recmap_framing;

#define RECMAP_FRAMING_VERSION 1

/* Registers a framing under its name until the process ends. The table and its name are copied.
 * Registering the same functions again does nothing. Errors: INVALID for an invalid table, or a
 * name that is taken. Threads: any. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_framing_register(const recmap_framing *framing,
                                                                  recmap_error *error);

/* Loads a shared object and registers the framing that its function RECMAP_FRAMING_SYMBOL returns.
 * The object stays loaded. Unless `name` is NULL, `*name` is set to the framing's name, to be used
 * in recmap_index_options. The file's code runs in this process: load only code that you trust. A
 * path without a slash is searched for as by dlopen(3). Errors: IO if it cannot be loaded; INVALID
 * if it does not return a valid framing. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_framing_load(const char **name, const char *path,
                                                              recmap_error *error);

/* The function that the shared object must export, with C linkage and default visibility. */
#define RECMAP_FRAMING_SYMBOL "recmap_framing_plugin"
typedef const recmap_framing *(*recmap_framing_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
