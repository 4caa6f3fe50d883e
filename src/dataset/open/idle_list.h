/* A list of what is not in use, by its last use. Links are members of the items. The caller holds
 * the process lock. */
#ifndef RECMAP_DATASET_OPEN_IDLE_LIST_H
#define RECMAP_DATASET_OPEN_IDLE_LIST_H

#include <stddef.h>

struct idle_link {
    struct idle_link *newer, *older;
};

struct idle_list {
    struct idle_link *newest, *oldest;
};

/* The item must not be in the list, or be in it, respectively. */
static inline void idle_list_add(struct idle_list *list, struct idle_link *link) {
    *link = (struct idle_link){NULL, list->newest};
    if (list->newest) list->newest->newer = link;
    else list->oldest = link;
    list->newest = link;
}

static inline void idle_list_remove(struct idle_list *list, struct idle_link *link) {
    if (link->newer) link->newer->older = link->older;
    else list->newest = link->older;
    if (link->older) link->older->newer = link->newer;
    else list->oldest = link->newer;
    *link = (struct idle_link){NULL, NULL};
}

#endif
