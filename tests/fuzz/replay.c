/* Runs a fuzz target over every file of the corpus folders given, so that what a fuzzer once found
 * is tested by every build with any compiler. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"

enum { PATH_CAPACITY = 4096 };

/* Reads the whole file into memory of exactly its size, so that a sanitizer sees overruns. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    uint8_t *data = NULL;
    long length = -1;
    if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0) data = malloc(length > 0 ? (size_t)length : 1);
    rewind(file);
    if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
        free(data);
        data = NULL;
    }
    fclose(file);
    if (data) *size = (size_t)length;
    return data;
}

static int replay_file(const char *path) {
    size_t size = 0;
    uint8_t *data = read_file(path, &size);
    if (!data) {
        fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    /* The path goes first: after a crash the last line names the input. */
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

/* The number of files that were run, or -1. */
static int replay_folder(const char *folder) {
    DIR *entries = opendir(folder);
    if (!entries) {
        fprintf(stderr, "cannot open %s\n", folder);
        return -1;
    }
    int count = 0;
    struct dirent *entry;
    while (count >= 0 && (entry = readdir(entries))) {
        if (entry->d_name[0] == '.') continue;
        char path[PATH_CAPACITY];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count = replay_file(path) ? -1 : count + 1;
    }
    closedir(entries);
    return count;
}

int main(int argc, char **argv) {
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = replay_folder(argv[i]);
        if (count < 0) return 1;
        total += count;
    }
    printf("%d inputs\n", total);
    if (total == 0) fprintf(stderr, "the corpus is empty\n");
    return total == 0;
}
