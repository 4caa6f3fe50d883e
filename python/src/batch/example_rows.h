/* Encodes rows of columns, as Arrow stores them, as records. */
#ifndef RECMAP_PYTHON_BATCH_EXAMPLE_ROWS_H
#define RECMAP_PYTHON_BATCH_EXAMPLE_ROWS_H

#include <recmap/example_builder.h>

#include "base/python.h"

/* encode_rows(message, columns, count): a list of the records of `count` rows. The message is 1 for
 * an Example, 2 for a SequenceExample. A column is a tuple (name, kind, valid, lists, values,
 * ends); the arrays are contiguous:
 *
 * - kind: "i", "f" or "b", for int64, float32 and bytes;
 * - valid: an array of bool, which rows are not null;
 * - lists: None if each row has one value; (starts,) if row i has the values starts[i] to
 *   starts[i + 1]; (starts, steps) if row i has as many lists, and list j the values steps[j] to
 *   steps[j + 1], which become a feature list. Arrays of int64;
 * - values: an array of int64 or float32, or the bytes of all values after each other;
 * - ends: for bytes, an array of int64 with one item more than there are values: value i is at
 *   ends[i] to ends[i + 1]. Otherwise None. */
PyObject *encode_rows(recmap_example_builder *builder, PyObject *arguments);

#endif
