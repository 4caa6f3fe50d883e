#include "base/module.h"

#include "base/errors.h"
#include "base/warnings.h"

PyTypeObject *handle_type, *record_type, *dataset_type, *batch_type, *order_type, *loader_type,
    *writer_type, *example_builder_type, *kind_check_type, *parser_type, *buffer_type, *views_type,
    *step_type, *iterator_type, *counts_type, *block_pool_type, *message_type_type;

static PyObject *install_guard(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_guard_install(&error) != RECMAP_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"index_build", KEYWORDS(index_build), NULL},
    {"framing_load", framing_load, METH_O, NULL},
    {"remove_leftovers", remove_leftovers, METH_O, NULL},
    {"shards_expand", shards_expand, METH_VARARGS, NULL},
    {"shards_planned", shards_planned, METH_O, NULL},
    {"storage_create", storage_create, METH_O, NULL},
    {"storage_set_client", storage_set_client, METH_VARARGS, NULL},
    {"clients_start", clients_start, METH_NOARGS, NULL},
    {"clients_stop", clients_stop, METH_NOARGS, NULL},
    {"storage_is_used", storage_is_used, METH_O, NULL},
    {"storage_share", storage_share, METH_O, NULL},
    {"storage_add_url", storage_add_url, METH_VARARGS, NULL},
    {"storage_renew", storage_renew, METH_VARARGS, NULL},
    {"storage_read", storage_read, METH_VARARGS, NULL},
    {"storage_list", storage_list, METH_VARARGS, NULL},
    {"example_decode", example_decode, METH_O, NULL},
    {"image_decode", image_decode, METH_VARARGS, NULL},
    {"image_info", image_info, METH_O, NULL},
    {"image_size", image_size, METH_VARARGS, NULL},
    {"image_thumbnail", image_thumbnail, METH_VARARGS, NULL},
    {"narrow_floats", narrow_floats, METH_VARARGS, NULL},
    {"selection_index_path", selection_index_path, METH_VARARGS, NULL},
    {"state_create", state_create, METH_VARARGS, NULL},
    {"order_check", order_check, METH_VARARGS, NULL},
    {"batch_set_class", batch_set_class, METH_O, NULL},
    {"install_guard", install_guard, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec) {
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, *type) : -1;
}

/* Types are kept in plain variables, so that making a view looks nothing up. */
static int load(PyObject *module) {
    if (handle_type) {
        PyErr_SetString(PyExc_ImportError,
                        "recmap can be imported by one interpreter of a process only");
        return -1;
    }
    const struct {
        PyTypeObject **type;
        PyType_Spec *spec;
    } types[] = {
        {&handle_type, &handle_spec},
        {&record_type, &record_spec},
        {&dataset_type, &dataset_spec},
        {&batch_type, &batch_spec},
        {&buffer_type, &buffer_spec},
        {&views_type, &views_spec},
        {&parser_type, &parser_spec},
        {&message_type_type, &message_type_spec},
        {&order_type, &order_spec},
        {&counts_type, &counts_spec},
        {&loader_type, &loader_spec},
        {&step_type, &step_spec},
        {&iterator_type, &iterator_spec},
        {&writer_type, &writer_spec},
        {&example_builder_type, &example_builder_spec},
        {&kind_check_type, &kind_check_spec},
        {&block_pool_type, &block_pool_spec},
    };
    if (!errors_load()) return -1;
    warnings_load();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (add_type(module, types[i].type, types[i].spec) < 0) return -1;
    return PyModule_AddStringConstant(module, "version", recmap_version());
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, load},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "recmap._recmap",
    .m_doc = "The C extension of recmap. Use the package recmap.",
    .m_methods = functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__recmap(void);

PyMODINIT_FUNC PyInit__recmap(void) {
    return PyModuleDef_Init(&definition);
}
