/* Reads what HDFS answers over HTTP (WebHDFS): the status of a file, the files of a folder, and
 * errors. All are JSON. Pure; nothing in a reply is trusted. */
#ifndef RECMAP_STORAGE_PROTOCOL_HDFS_REPLY_H
#define RECMAP_STORAGE_PROTOCOL_HDFS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/protocol/list_reply.h"
#include "storage/protocol/reply.h"

enum hdfs_kind { HDFS_FILE, HDFS_FOLDER, HDFS_OTHER };

struct hdfs_status {
    enum hdfs_kind kind;
    uint64_t size;
    int64_t mtime_ns; /* since 1970; 0: not known */
};

/* Reads the reply to GETFILESTATUS. */
bool hdfs_status_read(struct hdfs_status *status, const char *text, size_t size);

struct hdfs_entry {
    char *name; /* within the folder; malloc'ed */
    enum hdfs_kind kind;
};

struct hdfs_folder {
    struct hdfs_entry *entries;
    size_t count;
    size_t capacity;
};

/* Reads the reply to LISTSTATUS into a zeroed struct, which the caller deinitialises whatever the
 * result. No name is empty, `.` or `..`, or has a slash. */
enum list_verdict hdfs_folder_read(struct hdfs_folder *folder, const char *text, size_t size);

/* The same for the reply to LISTSTATUS_BATCH: a page of the folder. If it `has_more`, the next page
 * begins after the last entry, which there is then. */
enum list_verdict hdfs_page_read(struct hdfs_folder *folder, bool *has_more, const char *text,
                                 size_t size);
void hdfs_folder_deinit(struct hdfs_folder *folder);

/* Copies the class of the exception from the body of an error, such as FileNotFoundException. ""
 * if there is none, or if it has other characters than letters, digits, `.` and `_`. */
void hdfs_find_exception(char code[CODE_MAX], const char *body, size_t size);

/* Whether a reply begins as an object of JSON, as each reply of HDFS does. */
bool hdfs_is_object(const char *text, size_t size);

/* Whether a reply that is an object of JSON ends before the end of the object. */
bool hdfs_is_cut(const char *text, size_t size);

#endif
