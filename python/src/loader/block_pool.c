/* Blocks of memory that Python allocated, for the columns of a loader's batches.
 *
 * Memory that a device reads must not be written to again before the device is done, which only the
 * allocator of the framework knows. So a block that was handed out belongs to the framework: once
 * the columns release it, the pool drops its reference, and asks for another block instead. The
 * threads of the loader never need the GIL: they take blocks that are ready, or else ordinary
 * memory, for which the pool then also asks for blocks.
 *
 * Fork: in a child, other threads may have held the lock. The pool is left as it is there. */
#include "loader/block_pool.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/module.h"

/* Sizes are powers of two, as allocators of pinned memory round them. */
enum { SIZE_BITS_MIN = 12, SIZE_BITS_MAX = 46, SIZE_COUNT = SIZE_BITS_MAX + 1, ALIGNMENT = 64 };

struct block {
    struct block *next;
    PyObject *owner; /* NULL: ordinary memory */
    void *data;
    unsigned bits; /* the size is 2 to the power of this; ordinary memory may have less */
    int is_delivered;
};

/* It lives until the object is gone and no block is in use: arrays outlive their loader. */
struct pool {
    pid_t process;
    pthread_mutex_t lock; /* guards everything below. No Python code runs while it is held */
    struct block *ready[SIZE_COUNT];
    struct block *used;
    struct block *dropped; /* their owners are released by a thread with the GIL */
    unsigned wanted[SIZE_COUNT];
    int is_closed; /* the object is gone */
};

struct pool_object {
    PyObject_HEAD
    struct pool *pool;
};

static unsigned bits_of(size_t size) {
    unsigned bits = SIZE_BITS_MIN;
    while (bits < SIZE_BITS_MAX && (size_t)1 << bits < size) bits++;
    return bits;
}

static void push(struct block **list, struct block *block) {
    block->next = *list;
    *list = block;
}

static struct block *pop(struct block **list) {
    struct block *block = *list;
    if (block) *list = block->next;
    return block;
}

/* The place in a list that points to the block with these bytes, or to NULL. */
static struct block **find(struct block **list, const void *data) {
    while (*list && (*list)->data != data) list = &(*list)->next;
    return list;
}

static void free_pool(struct pool *pool) {
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- The allocator of the loader's columns. Called on any thread, without the GIL. */

static struct block *create_ordinary(size_t size, unsigned bits) {
    struct block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->bits = bits;
    if (posix_memalign(&block->data, ALIGNMENT, size) == 0) return block;
    free(block);
    return NULL;
}

static void *allocate(size_t size, void *context) {
    struct pool *pool = context;
    unsigned bits = bits_of(size);
    struct block *block = NULL;
    pthread_mutex_lock(&pool->lock);
    if (size <= (size_t)1 << bits) block = pop(&pool->ready[bits]);
    pthread_mutex_unlock(&pool->lock);
    if (!block) block = create_ordinary(size, bits);
    if (!block) return NULL;
    pthread_mutex_lock(&pool->lock);
    push(&pool->used, block);
    pthread_mutex_unlock(&pool->lock);
    return block->data;
}

static void free_block(struct block *block) {
    if (!block->owner) free(block->data);
    else if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(block->owner);
        PyGILState_Release(state);
    }
    free(block);
}

/* Once the object is gone, so are the loader's threads, and the GIL may be waited for. */
static void release(void *memory, size_t size, void *context) {
    struct pool *pool = context;
    (void)size;
    if (pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    struct block *block = pop(find(&pool->used, memory));
    if (block->owner && !pool->is_closed) {
        push(block->is_delivered ? &pool->dropped : &pool->ready[block->bits], block);
        block = NULL;
    }
    int is_last = pool->is_closed && !pool->used;
    pthread_mutex_unlock(&pool->lock);
    if (block) free_block(block);
    if (is_last) free_pool(pool);
}

recmap_allocator block_pool_allocator(PyObject *object) {
    struct pool *pool = ((struct pool_object *)object)->pool;
    return (recmap_allocator){.allocate = allocate, .release = release, .context = pool};
}

int take_block_pool(PyObject *object, void *pool) {
    *(PyObject **)pool = object == Py_None ? NULL : object;
    if (object == Py_None || PyObject_TypeCheck(object, block_pool_type)) return 1;
    PyErr_SetString(PyExc_TypeError, "the memory is not a BlockPool");
    return 0;
}

/* ---- Methods. */

static PyObject *pool_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, ":BlockPool", names)) return NULL;
    allocfunc allocate_object = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return PyErr_NoMemory();
    pool->process = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    struct pool_object *self = (struct pool_object *)allocate_object(type, 0);
    if (self) self->pool = pool;
    else free_pool(pool);
    return (PyObject *)self;
}

/* Releases blocks of a list that only the caller knows. */
static void release_owners(struct block *list) {
    struct block *block;
    while ((block = pop(&list))) {
        Py_DECREF(block->owner);
        free(block);
    }
}

/* Releases the owners of blocks that were dropped. */
static void release_dropped(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    struct block *dropped = pool->dropped;
    pool->dropped = NULL;
    pthread_mutex_unlock(&pool->lock);
    release_owners(dropped);
}

static int append_sizes(PyObject *list, unsigned bits, unsigned count) {
    while (count--) {
        PyObject *size = PyLong_FromUnsignedLongLong(1ull << bits);
        int appended = size ? PyList_Append(list, size) : -1;
        Py_XDECREF(size);
        if (appended < 0) return -1;
    }
    return 0;
}

/* wanted() -> [size]: blocks to add, each listed once */
static PyObject *wanted(PyObject *object, PyObject *unused) {
    (void)unused;
    struct pool *pool = ((struct pool_object *)object)->pool;
    PyObject *list = PyList_New(0);
    if (!list) return NULL;
    release_dropped(pool);
    for (unsigned bits = SIZE_BITS_MIN; bits < SIZE_COUNT; bits++) {
        pthread_mutex_lock(&pool->lock);
        unsigned count = pool->wanted[bits];
        pool->wanted[bits] = 0;
        pthread_mutex_unlock(&pool->lock);
        if (append_sizes(list, bits, count) == 0) continue;
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

/* add(owner, address, size): a block of a size that was wanted, which `owner` keeps */
static PyObject *add(PyObject *object, PyObject *arguments) {
    struct pool *pool = ((struct pool_object *)object)->pool;
    PyObject *owner;
    uint64_t address, size;
    if (!PyArg_ParseTuple(arguments, "OO&O&:add", &owner, take_uint64, &address, take_uint64,
                          &size))
        return NULL;
    unsigned bits = bits_of((size_t)size);
    if (!address || address % ALIGNMENT || size != 1ull << bits)
        return PyErr_Format(PyExc_ValueError,
                            "invalid block: %" PRIu64 " bytes at address %" PRIu64, size, address);
    struct block *block = calloc(1, sizeof *block);
    if (!block) return PyErr_NoMemory();
    Py_INCREF(owner);
    *block = (struct block){.owner = owner, .data = (void *)(uintptr_t)address, .bits = bits};
    pthread_mutex_lock(&pool->lock);
    push(&pool->ready[bits], block);
    pthread_mutex_unlock(&pool->lock);
    Py_RETURN_NONE;
}

/* deliver(address) -> the owner of the block at this address, which the loader's threads will not
 * write to again; None for ordinary memory. Either way, another block of its size is wanted. */
static PyObject *deliver(PyObject *object, PyObject *arguments) {
    struct pool *pool = ((struct pool_object *)object)->pool;
    uint64_t address;
    PyObject *owner = NULL;
    if (!PyArg_ParseTuple(arguments, "O&:deliver", take_uint64, &address)) return NULL;
    pthread_mutex_lock(&pool->lock);
    struct block *block = *find(&pool->used, (const void *)(uintptr_t)address);
    if (block) {
        if (!block->is_delivered) pool->wanted[block->bits]++;
        block->is_delivered = 1;
        owner = block->owner;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!owner) Py_RETURN_NONE;
    Py_INCREF(owner);
    return owner;
}

/* Arrays may still use blocks: then the last of them frees the pool. */
static void close_pool(struct pool *pool) {
    struct block *ready[SIZE_COUNT];
    if (pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = 1;
    int is_last = !pool->used;
    struct block *dropped = pool->dropped;
    memcpy(ready, pool->ready, sizeof ready);
    pthread_mutex_unlock(&pool->lock);
    release_owners(dropped);
    for (unsigned bits = 0; bits < SIZE_COUNT; bits++) release_owners(ready[bits]);
    if (is_last) free_pool(pool);
}

static void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    close_pool(((struct pool_object *)object)->pool);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"wanted", wanted, METH_NOARGS, NULL},
    {"add", add, METH_VARARGS, NULL},
    {"deliver", deliver, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, pool_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Blocks of memory for the columns of a loader's batches."},
    {0, NULL},
};

PyType_Spec block_pool_spec = {
    .name = "recmap._recmap.BlockPool",
    .basicsize = sizeof(struct pool_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
