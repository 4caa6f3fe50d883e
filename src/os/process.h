/* The limits of this process. */
#ifndef RECMAP_OS_PROCESS_H
#define RECMAP_OS_PROCESS_H

#include <stddef.h>

/* Files that it may have open at once. */
size_t process_file_limit(void);

#endif
