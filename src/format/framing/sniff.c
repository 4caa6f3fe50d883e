#include "format/framing/sniff.h"

#include <stdbool.h>
#include <string.h>

#include "base/core/bytes.h"
#include "format/framing/ofrecord.h"
#include "format/framing/tar.h"
#include "format/framing/tfrecord.h"

struct signature {
    const char *start;
    uint8_t size;
    struct file_kind kind;
};

static const struct signature signatures[] = {
    {"version https://git-lfs",
     23,
     {"a Git LFS pointer", "fetch the file itself with `git lfs pull`"}},
    {"\x28\xb5\x2f\xfd", 4, {"compressed with Zstandard", "decompress it with `zstd -d`"}},
    {"BZh", 3, {"compressed with bzip2", "decompress it with `bzip2 -d`"}},
    {"\xfd"
     "7zXZ",
     5,
     {"compressed with xz", "decompress it with `xz -d`"}},
    {"PK\x03\x04", 4, {"a ZIP archive", "unpack it and index the files in it"}},
    {"RMXview\n",
     8,
     {"a selection of recmap",
      "name TFRecord files; a selection is opened by a name that ends in .rmv"}},
    {"PAR1", 4, {"a Parquet file", "name TFRecord files"}},
    {"ARROW1", 6, {"an Arrow file", "name TFRecord files"}},
    {"RIFF", 4, {"a RIFF file (WebP, WAV, AVI)", "name TFRecord files"}},
    {"\x89PNG", 4, {"a PNG picture", "name TFRecord files"}},
    {"\xff\xd8\xff", 3, {"a JPEG picture", "name TFRecord files"}},
    {"<!DOCTYPE", 9, {"an HTML page", "the download went wrong: fetch the file again"}},
    {"<!doctype", 9, {"an HTML page", "the download went wrong: fetch the file again"}},
    {"<html", 5, {"an HTML page", "the download went wrong: fetch the file again"}},
    {"<?xml", 5, {"an XML document", "the download went wrong: fetch the file again"}},
};

/* Bytes that occur in neither ASCII nor UTF-8 text. */
static bool is_binary(uint8_t byte) {
    return byte == 0x7f || byte == 0xc0 || byte == 0xc1 || byte >= 0xf5 ||
           (byte < 0x20 && !memchr("\t\n\r\f", byte, 4));
}

/* A shorter piece without binary bytes may be what is left of a record's length. */
enum { TEXT_MIN = 8 };

static bool is_text(const uint8_t *bytes, uint64_t size) {
    uint64_t seen = size < 512 ? size : 512;
    for (uint64_t i = 0; i < seen; i++)
        if (is_binary(bytes[i])) return false;
    return seen >= TEXT_MIN;
}

/* The upper half of a record's length is zero. None of the known file types has zeros there, and a
 * TFRecord file with a damaged first header usually still has. */
static bool begins_length(const uint8_t *bytes, uint64_t size) {
    return size >= 8 && load32(bytes + 4) == 0;
}

/* LMDB files start with a meta page: the magic number follows a page header of 16 bytes. */
static bool is_lmdb(const uint8_t *bytes, uint64_t size) {
    return size >= 20 && load32(bytes + 16) == 0xbeefc0de;
}

static const struct file_kind tar_kind = {
    "a tar archive",
    "index it with `--framing tar`, one WebDataset sample per record, or unpack it"};

const struct file_kind *sniff_records(const uint8_t *bytes, uint64_t size,
                                      const struct framing *framing) {
    static const struct file_kind tfrecord = {"a TFRecord file", "index it without `--framing`"};
    if (!framing_is_tfrecord(framing) && tfrecord_framing.begins_frame(framing, bytes, size))
        return &tfrecord;
    return framing->parse != tar_framing.parse && tar_is_likely(bytes, size) ? &tar_kind : NULL;
}

/* Checks that need several consistent fields come first. begins_length must precede the short
 * signatures, because a record's length may start with any two or three bytes. */
const struct file_kind *sniff_file(const uint8_t *bytes, uint64_t size) {
    static const struct file_kind text = {
        "text",
        "index it with `--framing lines`, one record per line, or a table with `--framing csv`; to "
        "leave out other files, use a pattern (*.tfrecord)"};
    static const struct file_kind ofrecord = {"an OFRecord file of OneFlow",
                                              "index it with `--framing ofrecord`"};
    static const struct file_kind index = {
        "a recmap index or another LMDB file",
        "name TFRecord files; use a pattern (*.tfrecord) to leave out others, and a name that ends "
        "in .rmx for an index that you want to open"};
    if (is_lmdb(bytes, size)) return &index;
    if (tar_is_likely(bytes, size)) return &tar_kind;
    if (ofrecord_is_likely(bytes, size, 0)) return &ofrecord;
    if (begins_length(bytes, size)) return NULL;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *signature = &signatures[i];
        if (size >= signature->size && !memcmp(bytes, signature->start, signature->size))
            return &signature->kind;
    }
    return is_text(bytes, size) ? &text : NULL;
}
