#include "base/words/errno_advice.h"

#include <errno.h>

#include "base/words/url_prefix.h"

const char *errno_advice(int system_errno, const char *path) {
    switch (system_errno) {
    case ENOENT:
        return url_is_url(path) ? "a URL cannot be used here: name a local file"
                                : "check the path; relative paths start at the current folder";
    case EACCES:
    case EPERM: return "check the owner and the permissions of the file and of its folders";
    case ENOSPC:
    case EDQUOT: return "free some space on that file system, or write elsewhere with -o";
    case EFBIG: return "raise the limit of file size (ulimit -f), or write elsewhere with -o";
    case EROFS: return "the file system is read-only: write elsewhere with -o";
    case EMFILE: return "raise the limit of open files (ulimit -n)";
    case ENOMEM: return "raise the limit of address space (ulimit -v), or use `--access read`";
    case EPIPE: return "the reader of the output has exited";
    default: return path[0] ? "check the path, its permissions and the state of the device" : "";
    }
}
