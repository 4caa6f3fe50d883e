/* Which sanitizer the tests are built with: some things cannot be done under one. gcc defines a
 * macro, clang has a question. */
#ifndef RECMAP_TESTS_SUPPORT_SANITIZERS_H
#define RECMAP_TESTS_SUPPORT_SANITIZERS_H

#include <stdbool.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static const bool has_address_sanitizer = true;
#else
static const bool has_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
static const bool has_thread_sanitizer = true;
#else
static const bool has_thread_sanitizer = false;
#endif

#endif
