#include "index/image.h"

#include <stdlib.h>

#include "base/error.h"
#include "os/file.h"

recmap_status image_detect(compression *kind, int fd, uint64_t file_size, const char *path,
                           recmap_error *error) {
    uint8_t first[COMPRESSION_DETECT_SIZE];
    size_t size = file_size < sizeof first ? (size_t)file_size : sizeof first;
    recmap_status status = file_read_at(fd, first, size, 0, path, error);
    if (status == RECMAP_OK) *kind = compression_detect(first, size);
    return status;
}

static recmap_status fail_inflate(inflate_verdict verdict, const inflated *out, compression kind,
                                  const char *path, recmap_error *error) {
    if (verdict == INFLATE_NO_MEMORY) return fail_memory(error);
    if (verdict == INFLATE_TOO_LARGE) {
        fail(error, RECMAP_UNSUPPORTED, "the %s stream inflates to more than %llu bytes",
             compression_name(kind), (unsigned long long)IMAGE_INFLATED_MOST);
        fail_at(error, path, RECMAP_NO_RECORD, RECMAP_NO_OFFSET);
        fail_advise(error, "decompress the file and index the result");
        return RECMAP_UNSUPPORTED;
    }
    fail(error, RECMAP_CORRUPT, "the %s stream is damaged: %s", compression_name(kind),
         out->reason);
    fail_at(error, path, RECMAP_NO_RECORD, out->bad_at);
    fail_advise(error,
                "bring the file back from its source; what lies behind damage in a compressed "
                "file cannot be read");
    return RECMAP_CORRUPT;
}

/* Reads the file, so that nothing done to it meanwhile can hurt, and inflates it. */
static recmap_status inflate_file(shard_image *image, int fd, uint64_t file_size, compression kind,
                                  const char *path, recmap_error *error) {
    uint8_t *bytes = malloc((size_t)file_size + 1);
    if (!bytes) return fail_memory(error);
    inflated out = {0};
    recmap_status status = file_read_at(fd, bytes, (size_t)file_size, 0, path, error);
    if (status == RECMAP_OK) {
        inflate_verdict verdict = inflate_all(&out, kind, bytes, file_size, IMAGE_INFLATED_MOST);
        if (verdict != INFLATE_OK) status = fail_inflate(verdict, &out, kind, path, error);
    }
    free(bytes);
    if (status == RECMAP_OK)
        *image = (shard_image){.data = out.data, .size = out.size, .inflated = out.data};
    return status;
}

recmap_status image_open(shard_image *image, int fd, uint64_t file_size, compression kind,
                         const char *path, recmap_error *error) {
    if (kind != COMPRESSION_NONE) return inflate_file(image, fd, file_size, kind, path, error);
    file_map *map;
    recmap_status status = map_create(&map, fd, (size_t)file_size, path, error);
    if (status == RECMAP_OK)
        *image = (shard_image){.data = map->data, .size = map->size, .map = map};
    return status;
}

void image_close(shard_image *image) {
    map_destroy(image->map);
    free(image->inflated);
    *image = (shard_image)SHARD_IMAGE_INIT;
}

bool image_was_cut(const shard_image *image) {
    return image->map && image->map->was_cut;
}
