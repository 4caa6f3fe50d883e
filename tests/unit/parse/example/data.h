/* The data for tests that may lie beside the checkout: real files, and verdicts of other readers.
 * A user's clone has none; tests then skip. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_DATA_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the whole file `name` of the folder of test data, followed by a NUL; the caller frees it.
 * Returns NULL if the file does not exist. */
uint8_t *data_read(const char *name, size_t *size);

/* A file of TFRecords in memory, unpacked if it is gzip or zlib. */
struct record_file {
    uint8_t *bytes;
    size_t size;
    size_t at; /* of the next record */
};

/* False when the file is not there. A file that cannot be unpacked ends the program. */
bool record_file_open(struct record_file *file, const char *name);

/* One of the four shards of the digits in this repository; they are always there. */
void record_file_open_digits(struct record_file *file, unsigned shard);
void record_file_close(struct record_file *file);

/* The next record, without a look at its CRCs. False at the end. */
bool record_file_next(const uint8_t **data, size_t *size, struct record_file *file);

#endif
