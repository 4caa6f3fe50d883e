#include "dataset/open/file_budget.h"

#include "base/os/process.h"

enum { FILES_SHARE = 2, FILES_MIN = 4 };

static struct {
    size_t count;
    size_t limit; /* when a holder was added last: the process may change it */
    struct idle_list idle;
} budget;

size_t file_budget_limit(void) {
    size_t files = process_file_limit() / FILES_SHARE;
    return files < FILES_MIN ? FILES_MIN : files;
}

bool file_budget_close_oldest(void) {
    /* The link is the first member. */
    struct file_holder *oldest = (struct file_holder *)budget.idle.oldest;
    if (oldest) oldest->close(oldest);
    return oldest != NULL;
}

static void keep_limit(void) {
    while (budget.count > budget.limit && file_budget_close_oldest()) continue;
}

void file_budget_add(struct file_holder *holder, unsigned file_count) {
    holder->file_count = file_count;
    budget.count += file_count;
    budget.limit = file_budget_limit();
    keep_limit();
}

void file_budget_use(struct file_holder *holder) {
    if (holder->file_count) idle_list_remove(&budget.idle, &holder->link);
}

void file_budget_leave(struct file_holder *holder) {
    if (!holder->file_count) return;
    idle_list_add(&budget.idle, &holder->link);
    keep_limit();
}

void file_budget_remove(struct file_holder *holder, bool is_in_use) {
    if (!is_in_use) file_budget_use(holder);
    budget.count -= holder->file_count;
}
