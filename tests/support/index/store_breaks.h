/* Sealed stores with one thing broken in each: one test a break, which must be refused with its own
 * message, mapped and in memory. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_STORE_BREAKS_H
#define RECMAP_TESTS_SUPPORT_INDEX_STORE_BREAKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/index/store_file.h"

/* Sets `width` bytes to a value, `at` bytes after the located place. */
struct break_field {
    uint8_t *(*locate)(const struct store_file *file);
    int at;
    int width;
    uint64_t value;
};

struct break_case {
    const char *name;
    struct break_field field;
    uint64_t (*value_of)(const struct store_file *file); /* or NULL: the value of `field` */
    /* Or a change; or one that comes after the hashes are made right again. */
    void (*change)(struct store_file *file);
    void (*change_at_last)(struct store_file *file);
    recmap_status status; /* CORRUPT where none is given */
    const char *message;
};

/* The test of one break, between what sets all of them up and what ends them. */
struct CMUnitTest store_break_test(const struct break_case *broken);
int store_breaks_enter(void **state);
int store_breaks_leave(void **state);

#endif
