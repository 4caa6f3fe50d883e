/* Runs another program and reads what it prints. */
#ifndef RECMAP_BASE_OS_PROGRAM_H
#define RECMAP_BASE_OS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

enum program_end {
    PROGRAM_EXITED,      /* `code` is its exit status */
    PROGRAM_KILLED,      /* by the signal `code`, of somebody else */
    PROGRAM_NOT_STARTED, /* `code` is the errno */
    PROGRAM_TOO_SLOW,
    PROGRAM_TOO_LONG, /* it printed more than there is room for */
};

struct program_result {
    enum program_end end;
    int code;
    size_t size; /* of the output */
};

/* Runs the program `arguments[0]`, which is looked for in PATH if it has no slash, without a shell.
 * It inherits the environment. Its input is empty, its errors are discarded, and its output goes to
 * `output`. One that does not end in time or prints too much is killed with the processes of its
 * group. If it ends and leaves other processes running, their output is not waited for. `result`
 * says how it ended, also if that is a failure. Errors: CANCELLED (it is killed). */
recmap_status program_run(struct program_result *result, char *output, size_t capacity,
                          const char *const *arguments, uint64_t timeout_ns, recmap_error *error);

#endif
