#include "os/process.h"

#include <sys/resource.h>

size_t process_file_limit(void) {
    enum { USUAL = 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY) return USUAL;
    return (size_t)limit.rlim_cur;
}
