/* Streams that write a value to memory, or wait for one.
 *
 * A call does its work before it returns, so the work of a stream cannot be put off until somebody writes the value. A
 * wait that is not fulfilled when it is called is therefore refused. */
#include "cuda/internal.h"

#include <string.h>

/* Returns the host memory of an aligned value, or NULL. */
static unsigned char *find_value(const struct cuda_call *call, CUdeviceptr address, size_t bytes) {
    return address % bytes ? NULL : gpu_host(call->gpu, address, bytes);
}

static CUresult write_value(const struct cuda_call *call, CUdeviceptr address, uint64_t value, size_t bytes,
                            unsigned flags) {
    unsigned char *memory = find_value(call, address, bytes);
    if (!memory || flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(memory, &value, bytes); /* the low bytes come first */
    gpu_note_written(call->gpu, address, bytes);
    return CUDA_SUCCESS;
}

static bool is_fulfilled(uint64_t found, uint64_t value, size_t bytes, unsigned condition) {
    switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return bytes == 4 ? (int32_t)(found - value) >= 0 : (int64_t)(found - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
    default:
        return bytes == 4 ? (uint32_t) ~(found | value) != 0 : ~(found | value) != 0;
    }
}

static CUresult wait_value(const struct cuda_call *call, CUdeviceptr address, uint64_t value, size_t bytes,
                           unsigned flags) {
    const unsigned char *memory = find_value(call, address, bytes);
    unsigned condition = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    uint64_t found = 0;
    if (!memory || condition > CU_STREAM_WAIT_VALUE_NOR)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&found, memory, bytes);
    if (is_fulfilled(found, value, bytes, condition))
        return CUDA_SUCCESS;
    return cuda_refuse(call, CUDA_ERROR_NOT_SUPPORTED,
                       "a stream waits for a value at 0x%llx that has not been written yet: write it before the wait",
                       address);
}

static CUresult do_operation(const struct cuda_call *call, const CUstreamBatchMemOpParams *operation) {
    switch (operation->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return wait_value(call, operation->waitValue.address, operation->waitValue.value, 4,
                          operation->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return wait_value(call, operation->waitValue.address, operation->waitValue.value64, 8,
                          operation->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return write_value(call, operation->writeValue.address, operation->writeValue.value, 4,
                           operation->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return write_value(call, operation->writeValue.address, operation->writeValue.value64, 8,
                           operation->writeValue.flags);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER:
        return CUDA_SUCCESS; /* memory is always up to date */
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* In a captured stream the operations would be a node, which graphs lack. */
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *operations, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!count || !operations || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (cuda_capture_of(&call, stream))
        return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED,
                           "operations on values in a captured stream are not supported");
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = do_operation(&call, &operations[i]);
    return result;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
    CUstreamBatchMemOpParams operation = {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, address, {value}, flags, 0}};
    return cuStreamBatchMemOp(stream, 1, &operation, 0);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams operation = {
        .writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, address, {.value64 = value}, flags, 0}};
    return cuStreamBatchMemOp(stream, 1, &operation, 0);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
    CUstreamBatchMemOpParams operation = {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, address, {value}, flags, 0}};
    return cuStreamBatchMemOp(stream, 1, &operation, 0);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams operation = {
        .waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_64, address, {.value64 = value}, flags, 0}};
    return cuStreamBatchMemOp(stream, 1, &operation, 0);
}

/* The first version lacks barriers. */
#define ALL_VERSIONS(name)                                                                                             \
    CUDA_ALIAS(name, name##_v2);                                                                                       \
    CUDA_ALIAS(name##_ptsz, name##_v2);                                                                                \
    CUDA_ALIAS(name##_v2_ptsz, name##_v2)
#undef cuStreamBatchMemOp
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
ALL_VERSIONS(cuStreamBatchMemOp);
ALL_VERSIONS(cuStreamWaitValue32);
ALL_VERSIONS(cuStreamWaitValue64);
ALL_VERSIONS(cuStreamWriteValue32);
ALL_VERSIONS(cuStreamWriteValue64);
