/* Memory nodes of graphs.
 *
 * The address of an allocation is fixed when its node is added, and every launch of the graph allocates there again. So
 * the block of device memory is reserved when the node is added, and kept while the node or any copy of it exists.
 * Allocating and freeing only make the block known or unknown to the other functions of the API. A kernel that uses a
 * block while it is not allocated is therefore not caught.
 *
 * An allocation takes the address of an earlier one of the same graph and size that is always freed before. The
 * attributes of the API show the physical memory that a driver would hold: launches take freed memory again, and
 * cuDeviceGraphMemTrim returns the rest. */
#include "cuda/graphs/graph.h"

#include <stdlib.h>
#include <string.h>

/* By address, in cuda_state.graph_blocks. */
struct cuda_graph_block {
    uint64_t address, bytes;
    unsigned n_nodes;
    struct cuda_allocation *allocation; /* NULL: not allocated now */
};

static struct cuda_graph_block *find_block(const struct cuda_state *state, CUdeviceptr address) {
    return cuda_table_get(&state->graph_blocks, address);
}

static void release_if_unused(struct cuda_state *state, struct cuda_graph_block *block) {
    if (block->n_nodes || block->allocation)
        return;
    cuda_table_remove(&state->graph_blocks, block->address);
    gpu_release(state->gpu, block->address);
    free(block);
}

/* ---- The life of a block ---------------------------------------------------------------------------------------- */

/* Marks the nodes that always run before the node. */
static void mark_earlier(const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < node->n_dependencies; i++)
        if (!node->dependency[i]->is_placed) {
            node->dependency[i]->is_placed = true;
            mark_earlier(node->dependency[i]);
        }
}

/* Whether the graph frees the block as often as it allocates it, each time in a marked node. */
static bool is_always_free(const struct CUgraph_st *graph, CUdeviceptr address) {
    size_t n_allocated = 0, n_freed = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->node[i];
        n_allocated += node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->memory == address;
        n_freed += node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && node->memory == address && node->is_placed;
    }
    return n_freed == n_allocated;
}

/* Finds a block of the graph that the node can use again. */
static struct cuda_graph_block *find_free_block(const struct cuda_call *call, const struct CUgraphNode_st *node,
                                                uint64_t bytes) {
    const struct CUgraph_st *graph = node->graph;
    for (size_t i = 0; i < graph->n_nodes; i++)
        graph->node[i]->is_placed = false;
    mark_earlier(node);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *other = graph->node[i];
        if (other->type != CU_GRAPH_NODE_TYPE_MEM_FREE || !other->is_placed)
            continue;
        struct cuda_graph_block *block = find_block(call->state, other->memory);
        if (block && block->bytes == bytes && is_always_free(graph, block->address))
            return block;
    }
    return NULL;
}

CUresult cuda_graph_reserve(struct cuda_call *call, struct CUgraphNode_st *node, uint64_t bytes) {
    struct cuda_graph_block *freed = find_free_block(call, node, bytes);
    if (freed) {
        freed->n_nodes++;
        node->memory = freed->address;
        return CUDA_SUCCESS;
    }
    uint64_t address = bytes ? gpu_malloc(call->gpu, bytes, CUDA_ALLOCATION_ALIGNMENT) : 0;
    if (!address)
        return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    struct cuda_graph_block *block = cuda_allocate(sizeof(*block));
    *block = (struct cuda_graph_block){.address = address, .bytes = bytes, .n_nodes = 1};
    cuda_table_put(&call->state->graph_blocks, address, block);
    cuda_note_memory(call->state);
    node->memory = address;
    return CUDA_SUCCESS;
}

bool cuda_graph_is_block(const struct cuda_call *call, CUdeviceptr address) {
    return find_block(call->state, address) != NULL;
}

void cuda_graph_keep_block(struct cuda_state *state, CUdeviceptr address) { find_block(state, address)->n_nodes++; }

void cuda_graph_leave_block(struct cuda_state *state, CUdeviceptr address) {
    struct cuda_graph_block *block = find_block(state, address);
    if (!block)
        return;
    block->n_nodes--;
    release_if_unused(state, block);
}

void cuda_graph_block_freed(struct cuda_state *state, struct cuda_graph_block *block) {
    block->allocation = NULL;
    state->graph_bytes -= block->bytes;
    release_if_unused(state, block);
}

/* ---- While a graph runs ----------------------------------------------------------------------------------------- */

CUresult cuda_graph_run_allocation(struct cuda_call *call, const struct CUgraphNode_st *node) {
    struct cuda_graph_block *block = find_block(call->state, node->memory);
    if (!block || block->allocation)
        return CUDA_ERROR_INVALID_VALUE; /* an earlier launch allocated it, and it has not been freed since */
    struct cuda_allocation *allocation = cuda_allocate(sizeof(*allocation));
    *allocation = (struct cuda_allocation){
        .kind = CUDA_MEMORY_DEVICE,
        .address = block->address,
        .bytes = block->bytes,
        .id = ++call->state->next_id,
        .context = call->context,
        .block = block,
    };
    block->allocation = allocation;
    cuda_table_put(&call->state->allocations, block->address, allocation);
    struct cuda_state *state = call->state;
    state->graph_bytes += block->bytes;
    if (state->graph_bytes_held < state->graph_bytes)
        state->graph_bytes_held = state->graph_bytes;
    if (state->graph_bytes_high < state->graph_bytes_held)
        state->graph_bytes_high = state->graph_bytes_held;
    return CUDA_SUCCESS;
}

CUresult cuda_graph_run_free(struct cuda_call *call, const struct CUgraphNode_st *node) {
    const struct cuda_graph_block *block = find_block(call->state, node->memory);
    if (!block || !block->allocation)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_free_allocation(call->state, block->allocation);
    return CUDA_SUCCESS;
}

/* With CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH memory that the last launch left is freed before the next. */
void cuda_graph_free_left(struct cuda_call *call, const struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct CUgraphNode_st *node = graph->node[i];
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            cuda_graph_run_free(call, node);
        if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
            cuda_graph_free_left(call, node->child);
    }
}

/* ---- The API ---------------------------------------------------------------------------------------------------- */

static const struct CUgraphNode_st *find(const struct cuda_call *call, CUgraphNode handle, CUgraphNodeType type) {
    const struct CUgraphNode_st *node = cuda_object_find(call, handle, CUDA_KIND_GRAPH_NODE);
    return node && node->type == type ? node : NULL;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    if (!node || !parameters)
        return CUDA_ERROR_INVALID_VALUE;
    *parameters = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = find_block(call.state, node->memory)->bytes,
        .dptr = node->memory,
    };
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUgraphNode_st *node = find(&call, handle, CU_GRAPH_NODE_TYPE_MEM_FREE);
    if (!node || !address)
        return CUDA_ERROR_INVALID_VALUE;
    *address = node->memory;
    return CUDA_SUCCESS;
}

/* Blocks are released when their nodes are destroyed. Only the numbers change here. */
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    call.state->graph_bytes_held = call.state->graph_bytes;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!value || (unsigned)attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_mark = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    *(cuuint64_t *)value = is_mark ? call.state->graph_bytes_high : call.state->graph_bytes_held;
    return CUDA_SUCCESS;
}

/* Only the high-water marks can be set, and only to 0. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!value || *(cuuint64_t *)value ||
        (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        return CUDA_ERROR_INVALID_VALUE;
    call.state->graph_bytes_high = call.state->graph_bytes_held;
    return CUDA_SUCCESS;
}
