/* A file that is being written, under a temporary name beside the one it will have. It is locked as
 * long as it is open, so that what a killed process left can be told from what is being written. */
#ifndef RECMAP_PARTIAL_H
#define RECMAP_PARTIAL_H

#include <sys/types.h>

/* Creates and locks TARGET.tmp-<16 digits> with these rights, after removing those of processes
 * that are gone. Returns its descriptor and its malloc'ed path, or -1 with errno. */
int partial_create(char **path, const char *target, mode_t mode);

#endif
