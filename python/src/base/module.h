/* What the extension shares: its types. They are made once in a process, by the first interpreter
 * that imports it; another interpreter of the same process is refused. */
#ifndef RECMAP_PYTHON_BASE_MODULE_H
#define RECMAP_PYTHON_BASE_MODULE_H

#include "base/python.h"

extern PyTypeObject *handle_type;
extern PyTypeObject *record_type;
extern PyTypeObject *dataset_type;
extern PyTypeObject *batch_type;
extern PyTypeObject *order_type;
extern PyTypeObject *loader_type;
extern PyTypeObject *step_type;
extern PyTypeObject *iterator_type;
extern PyTypeObject *writer_type;
extern PyTypeObject *example_builder_type;
extern PyTypeObject *kind_check_type;
extern PyTypeObject *views_type;
extern PyTypeObject *buffer_type;
extern PyTypeObject *parser_type;
extern PyTypeObject *message_type_type;
extern PyTypeObject *counts_type;
extern PyTypeObject *block_pool_type;

/* What describes each type; the module makes them of it. */
extern PyType_Spec handle_spec;
extern PyType_Spec record_spec;
extern PyType_Spec dataset_spec;
extern PyType_Spec batch_spec;
extern PyType_Spec order_spec;
extern PyType_Spec loader_spec;
extern PyType_Spec step_spec;
extern PyType_Spec iterator_spec;
extern PyType_Spec writer_spec;
extern PyType_Spec example_builder_spec;
extern PyType_Spec kind_check_spec;
extern PyType_Spec views_spec;
extern PyType_Spec buffer_spec;
extern PyType_Spec parser_spec;
extern PyType_Spec message_type_spec;
extern PyType_Spec counts_spec;
extern PyType_Spec block_pool_spec;

/* Functions of the module that are not methods of an object. */
PyObject *index_build(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *remove_leftovers(PyObject *module, PyObject *names);
PyObject *framing_load(PyObject *module, PyObject *path);
PyObject *shards_expand(PyObject *module, PyObject *arguments);
PyObject *shards_planned(PyObject *module, PyObject *name);
PyObject *storage_create(PyObject *module, PyObject *pairs);
PyObject *storage_set_client(PyObject *module, PyObject *arguments);
PyObject *clients_start(PyObject *module, PyObject *unused);
PyObject *clients_stop(PyObject *module, PyObject *unused);
PyObject *storage_is_used(PyObject *module, PyObject *capsule);
PyObject *storage_share(PyObject *module, PyObject *capsule);
PyObject *storage_add_url(PyObject *module, PyObject *arguments);
PyObject *storage_renew(PyObject *module, PyObject *arguments);
PyObject *storage_read(PyObject *module, PyObject *arguments);
PyObject *storage_list(PyObject *module, PyObject *arguments);
PyObject *batch_set_class(PyObject *module, PyObject *class);
PyObject *example_decode(PyObject *module, PyObject *record);
PyObject *image_decode(PyObject *module, PyObject *arguments);
PyObject *image_info(PyObject *module, PyObject *data);
PyObject *image_thumbnail(PyObject *module, PyObject *arguments);
PyObject *image_size(PyObject *module, PyObject *arguments);
PyObject *narrow_floats(PyObject *module, PyObject *arguments);
PyObject *state_create(PyObject *module, PyObject *arguments);
PyObject *selection_index_path(PyObject *module, PyObject *arguments);
PyObject *order_check(PyObject *module, PyObject *arguments);

#endif
