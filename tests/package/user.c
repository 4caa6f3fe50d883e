/* A user's program, as C and as C++: the library at run time is the one of the headers. */
#include <stdio.h>
#include <string.h>

#include <recmap/recmap.h>

int main(void) {
    if (strcmp(recmap_version(), RECMAP_VERSION) != 0) {
        fprintf(stderr, "library %s, headers %s\n", recmap_version(), RECMAP_VERSION);
        return 1;
    }
    return 0;
}
