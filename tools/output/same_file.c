#include "output/same_file.h"

bool same_file(const char *path, const struct stat *file) {
    struct stat found;
    return !stat(path, &found) && found.st_dev == file->st_dev && found.st_ino == file->st_ino;
}
