/* Facts about the whole data set, also for a view of it. */
#ifndef RECMAP_PYTHON_DATASET_INFO_H
#define RECMAP_PYTHON_DATASET_INFO_H

#include "base/python.h"

/* [(path, size, first record, records)] of all shards. */
PyObject *dataset_shard_table(PyObject *object, PyObject *unused);

/* _info_json(with_shards) -> what `recmap info --json` prints */
PyObject *dataset_info_json(PyObject *object, PyObject *arguments);

/* (number, name of the first one) of the shards that the names of others announce. */
PyObject *dataset_missing_shards(PyObject *object, PyObject *unused);

/* The 16 bytes of the fingerprint. */
PyObject *dataset_fingerprint(PyObject *object, PyObject *unused);
PyObject *dataset_begins_with_fingerprint(PyObject *object, PyObject *arguments);

/* The name of the ids, or None. */
PyObject *dataset_id_name(PyObject *object, PyObject *unused);
PyObject *dataset_header(PyObject *object, PyObject *unused);

PyObject *dataset_record_count(PyObject *object, PyObject *unused);

#endif
