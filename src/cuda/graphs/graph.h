/* Graphs: work that is described first and run later, any number of times.
 *
 * A node has its own copy of its work. Instantiating a graph clones it. A launch runs each of the clone's nodes after
 * those it depends on. If the graph has branches, and only kernels, copies and fills, the branches run at the same
 * time; otherwise one node runs after the other, in the order in which they were added. Capturing a stream records the
 * calls in the order they are made, each node after the one before: one of the orders that the API allows. */
#pragma once

#include "cuda/internal.h"

#pragma GCC visibility push(hidden)

/* References of a graph to a user object. */
struct cuda_graph_held {
    struct CUuserObject_st *object;
    unsigned count;
};

struct CUgraphNode_st {
    struct cuda_object object;
    struct CUgraph_st *graph;
    CUgraphNodeType type;
    bool is_disabled;
    struct CUgraphNode_st *original; /* of a clone: the node it was made from, which may no longer exist */
    struct CUgraphNode_st **dependency;
    size_t n_dependencies;
    bool is_placed; /* a mark, while nodes are put in order or compared with others */
    uint64_t end;   /* of its work in the last launch, on the device's timeline */
    uint32_t task;  /* the same, if the nodes ran together (waiting.c) */
    union {
        struct cuda_kernel_work kernel; /* parameters: own memory */
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        struct CUgraph_st *child; /* own */
        CUevent event;
        CUdeviceptr memory; /* that the node allocates or frees */
    };
    CUlaunchAttributeValue attribute[CUDA_STREAM_ATTRIBUTES]; /* kernel: as the program set them */
    void **pointer; /* kernel: the address of each parameter, for cuGraphKernelNodeGetParams; NULL before that */
};

struct CUgraph_st {
    struct cuda_object object;
    struct CUgraphNode_st **node;
    size_t n_nodes;
    bool is_child; /* belongs to a node */
    struct cuda_graph_held *held;
    size_t n_held;
};

struct CUgraphExec_st {
    struct cuda_object object;
    struct CUgraph_st *graph;      /* own: a clone */
    struct CUgraphNode_st **order; /* its nodes in the order they run */
    unsigned long long flags;
};

/* The nodes that the next one of a captured stream depends on, or those at which an event was recorded. */
struct cuda_mark {
    const void *of; /* the stream or event */
    struct CUgraphNode_st **node;
    size_t n;
};

/* A capture in progress; streams point to it. */
struct cuda_capture {
    struct CUgraph_st *graph;
    CUstream origin;
    uint64_t id;
    bool owns_graph; /* until it ends */
    struct cuda_mark *mark;
    size_t n_marks;
};

struct CUgraph_st *cuda_graph_new(struct cuda_call *call);
void cuda_graph_delete(struct cuda_state *state, struct CUgraph_st *graph);
/* Returns NULL, and sets *result, if a dependency is not a node of the graph. */
struct CUgraphNode_st *cuda_graph_add(struct cuda_call *call, struct CUgraph_st *graph, CUgraphNodeType type,
                                      struct CUgraphNode_st *const *dependency, size_t n_dependencies,
                                      CUresult *result);
struct CUgraph_st *cuda_graph_clone(struct cuda_call *call, const struct CUgraph_st *graph);
struct CUgraphNode_st *cuda_graph_find_clone(const struct CUgraph_st *graph, const struct CUgraphNode_st *original);
/* Replaces the work of a kernel node. */
CUresult cuda_graph_set_kernel(struct cuda_call *call, struct CUgraphNode_st *node,
                               const CUDA_KERNEL_NODE_PARAMS *parameters);
/* graph_memory.c: takes, shares or releases the block of memory of a node, and the actions of a launch on it. */
CUresult cuda_graph_reserve(struct cuda_call *call, struct CUgraphNode_st *node, uint64_t bytes);
bool cuda_graph_is_block(const struct cuda_call *call, CUdeviceptr address);
void cuda_graph_keep_block(struct cuda_state *state, CUdeviceptr address);
void cuda_graph_leave_block(struct cuda_state *state, CUdeviceptr address);
CUresult cuda_graph_run_allocation(struct cuda_call *call, const struct CUgraphNode_st *node);
CUresult cuda_graph_run_free(struct cuda_call *call, const struct CUgraphNode_st *node);
void cuda_graph_free_left(struct cuda_call *call, const struct CUgraph_st *graph);
/* user_object.c: a clone holds the objects that the graph holds. A destroyed graph releases them. */
void cuda_graph_hold_like(struct CUgraph_st *to, const struct CUgraph_st *from);
void cuda_graph_let_go(struct cuda_state *state, struct CUgraph_st *graph);
void cuda_graph_exec_delete(struct cuda_state *state, struct CUgraphExec_st *executable);

#pragma GCC visibility pop
