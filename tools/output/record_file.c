#include "output/record_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/writer.h>

static bool has_record_name(const char *path) {
    static const char *const endings[] = {".tfrecord", ".tfrecord.gz", ".tfrecord.gzip",
                                          ".tfrecord.zlib", ".tfrecords"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending_size = strlen(endings[i]);
        if (size > ending_size && !strcasecmp(path + size - ending_size, endings[i])) return true;
    }
    return false;
}

/* Only the first record is read: the rest may be damaged. */
static bool begins_with_record(const uint8_t *bytes, uint64_t size) {
    recmap_frame frame;
    uint64_t data_size = 0;
    for (unsigned i = 0; i < 8; i++) data_size |= (uint64_t)bytes[i] << 8 * i;
    if (data_size > size - sizeof frame) return false;
    const uint8_t *data = bytes + sizeof frame.header;
    frame = recmap_frame_of(data, (size_t)data_size);
    return !memcmp(bytes, frame.header, sizeof frame.header) &&
           !memcmp(data + data_size, frame.footer, sizeof frame.footer);
}

static bool is_tfrecord(const char *path, const struct stat *file) {
    size_t size = (size_t)file->st_size;
    int fd = size < sizeof(recmap_frame) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) return false;
    bool is_record = begins_with_record(bytes, size);
    munmap(bytes, size);
    return is_record;
}

bool record_file_exists(const char *path) {
    struct stat file;
    if (stat(path, &file) || !S_ISREG(file.st_mode) || !file.st_size) return false;
    return has_record_name(path) || is_tfrecord(path, &file);
}
