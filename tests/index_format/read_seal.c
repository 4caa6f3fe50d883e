/* read_seal INDEX: reads the seal of an index, as opening does first, and prints why it is refused.
 * packaging/test-s390x builds it for a big-endian machine. Exits with 0 if the seal is accepted, 1
 * if it is refused. */
#include <stdio.h>

#include <recmap/status.h>

#include "index/store/seal.h"

int main(int argc, char **argv) {
    uint8_t bytes[SEAL_SIZE];
    struct seal_fields seal;
    recmap_error error = RECMAP_ERROR_INIT;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    bool is_read = fseek(file, -(long)SEAL_SIZE, SEEK_END) == 0 &&
                   fread(bytes, SEAL_SIZE, 1, file) == 1;
    long size = ftell(file);
    (void)fclose(file);
    if (!is_read) return 2;
    if (seal_decode(&seal, bytes, (uint64_t)size, &error) == RECMAP_OK) return 0;
    printf("%s\n%s\n", error.message, error.advice);
    return 1;
}
