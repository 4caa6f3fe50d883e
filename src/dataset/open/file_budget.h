/* The descriptors of the open shards of all data sets: a process has one limit for all its files,
 * so the shard that was used least recently is closed, whatever its data set. The caller holds the
 * process lock, which is also held across fork. */
#ifndef RECMAP_DATASET_OPEN_FILE_BUDGET_H
#define RECMAP_DATASET_OPEN_FILE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "dataset/open/idle_list.h"

/* A member of a struct that holds descriptors. While they are not in use, `close` may be called: it
 * must remove the holder and close them without releasing the lock. */
struct file_holder {
    struct idle_link link;
    unsigned file_count; /* 0: the holder takes no part */
    void (*close)(struct file_holder *holder);
};

/* The share of the files that the process may open which data sets use together; the rest is left
 * to the application. */
size_t file_budget_limit(void);

/* Adds a holder that is in use. */
void file_budget_add(struct file_holder *holder, unsigned file_count);
void file_budget_remove(struct file_holder *holder, bool is_in_use);

/* Begins and ends a use. These and file_budget_add close other holders over the limit; ending a use
 * may close the holder itself. */
void file_budget_use(struct file_holder *holder);
void file_budget_leave(struct file_holder *holder);

/* Closes the holder that was used least recently. Returns false if all are in use. */
bool file_budget_close_oldest(void);

#endif
