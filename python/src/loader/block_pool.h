/* Memory for the columns of a loader's batches, in blocks that Python allocated. */
#ifndef RECMAP_PYTHON_LOADER_BLOCK_POOL_H
#define RECMAP_PYTHON_LOADER_BLOCK_POOL_H

#include "base/python.h"

/* The allocator of a pool, which the loader must keep. */
recmap_allocator block_pool_allocator(PyObject *object);

/* A converter for PyArg_ParseTuple: a BlockPool, borrowed, or NULL for None. */
int take_block_pool(PyObject *object, void *pool);

#endif
