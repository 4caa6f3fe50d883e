/* A strict check that a text is one JSON document in sound UTF-8. */
#ifndef RECMAP_TESTS_SUPPORT_JSON_H
#define RECMAP_TESTS_SUPPORT_JSON_H

#include <stddef.h>

/* Ends the test unless it is. */
void assert_json(const char *text, size_t size);

#endif
