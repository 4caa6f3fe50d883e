/* Columns as DLPack tensors: numbers in memory that any framework can share without copying. */
#ifndef RECMAP_DLPACK_H
#define RECMAP_DLPACK_H

#include <recmap/columns.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI of DLPack 1.0, unless its own header was included first. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef enum { kDLCPU = 1 } DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0U,
    kDLUInt = 1U,
    kDLFloat = 2U,
    kDLOpaqueHandle = 3U,
    kDLBfloat = 4U,
    kDLComplex = 5U,
    kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif

/* Which part of a column becomes a tensor. */
typedef enum recmap_tensor {
    RECMAP_TENSOR_VALUES = 1,        /* with the column's shape; copied BYTES: their bytes, uint8 */
    RECMAP_TENSOR_OFFSETS = 2,       /* int64 [entries] of level `level` */
    RECMAP_TENSOR_LENGTHS = 3,       /* int64 [rows], of padded sequences */
    RECMAP_TENSOR_INDICES = 4,       /* int64 [values, 1 + index keys], of SPARSE */
    RECMAP_TENSOR_BYTES_OFFSETS = 5, /* int64 [values + 1], of copied BYTES */
} recmap_tensor;

/* Exports column `column_index` as a CPU tensor, in C order, marked read-only if the DLPack version
 * allows it: other columns may share the memory. The consumer calls the deleter, on any thread.
 * Until then the tensor holds the memory of its batch, and needs neither columns nor parser.
 * Errors: INVALID for a part that the column does not have (views have no values, only ragged
 * columns have offsets, ...); NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status
recmap_columns_export_dlpack(DLManagedTensor **tensor, recmap_columns *columns, size_t column_index,
                             recmap_tensor what, size_t level, recmap_error *error);
RECMAP_API RECMAP_NODISCARD recmap_status recmap_columns_export_dlpack_versioned(
    DLManagedTensorVersioned **tensor, recmap_columns *columns, size_t column_index,
    recmap_tensor what, size_t level, recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
