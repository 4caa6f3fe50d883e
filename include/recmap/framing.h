/* Framings of your own: how records lie in a file, told to recmap by a function. */
#ifndef RECMAP_FRAMING_H
#define RECMAP_FRAMING_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A record with what stands around it. Frames follow each other without a gap. */
typedef struct recmap_frame_place {
    uint64_t size;        /* of the whole frame, at least 1 */
    uint64_t data_offset; /* of the record, from the frame's start */
    uint64_t data_size;   /* of the record */
} recmap_frame_place;

typedef enum recmap_frame_verdict {
    RECMAP_FRAME_GOOD = 0,
    RECMAP_FRAME_END = 1, /* no record follows; what bytes are left belong to none */
    RECMAP_FRAME_BAD = 2, /* damage: what follows it is lost, but for what `find` finds */
} recmap_frame_verdict;

/* What of a frame is wrong, for people; one line. */
typedef struct recmap_frame_fault {
    char reason[160];
} recmap_frame_fault;

/* A framing. Its functions are pure: the same bytes give the same answer, on any thread, many at
 * once. They must not read outside of the bytes; what they say is held against them. */
typedef struct recmap_framing {
    uint32_t version; /* RECMAP_FRAMING_VERSION */
    const char *name; /* letters, digits, `_` and `-`, at most 63: the index has it */
    void *context;    /* for the functions */

    /* Bytes at the beginning and at the end of each file that are no record. */
    uint64_t file_header_size;
    uint64_t file_footer_size;

    /* Looks at the frame that begins at bytes[0], and sets `frame` if it is good. When records are
     * scanned, `size` bytes are all up to the file's end, or of a compressed file as many as are
     * inflated so far: what is bad then, or reaches to their end, is asked for again with more.
     * When a record is read, they are its frame alone, and it must come out the same. With BAD it
     * says why in `fault`. */
    recmap_frame_verdict (*parse)(recmap_frame_place *frame, const uint8_t *bytes, size_t size,
                                  recmap_frame_fault *fault, void *context);

    /* The first place in [from, limit) where a frame begins, UINT64_MAX where there is none.
     * bytes[0] is the file's first byte, or of a compressed file where some frame begins. It lets
     * many threads scan one file, and finds the way back after damage. NULL: a file is scanned from
     * its beginning by one thread, and damage goes to its end. */
    uint64_t (*find)(const uint8_t *bytes, size_t size, uint64_t from, uint64_t limit,
                     void *context);
} recmap_framing;

#define RECMAP_FRAMING_VERSION 1

/* Makes a framing known to this process, under its name, until it ends. The table and its name are
 * copied. Registering the same functions again does nothing.
 * Errors: INVALID for an impossible table, or a name that is taken. Threads: any. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_framing_register(const recmap_framing *framing,
                                                                  recmap_error *error);

/* Loads a shared object and registers the framing that its function RECMAP_FRAMING_SYMBOL gives;
 * it stays loaded. `*name`, unless NULL, is the framing's name, as recmap_index_options takes it.
 * Code out of the file runs in this process: load only what you trust. A path without a slash is
 * searched for as dlopen(3) does.
 * Errors: IO when it cannot be loaded; INVALID when it gives no framing. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_framing_load(const char **name, const char *path,
                                                              recmap_error *error);

/* What a shared object has: extern "C", visible. */
#define RECMAP_FRAMING_SYMBOL "recmap_framing_plugin"
typedef const recmap_framing *(*recmap_framing_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
