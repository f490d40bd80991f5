// What kernels with warp groups share: matrices in shared memory, mbarriers, bulk copies and products of four warps.
// All of it needs compute capability 9.0, for which clang 14 has no names, so that instructions are written out.
//
// A tile has rows of 64 elements of half precision, 128 bytes. In a tile of both global and shared memory the eight
// pieces of 16 bytes of row r are exchanged: piece p is where piece p ^ (r % 8) would be. This is the layout that the
// descriptor calls a swizzle of 128 bytes. It keeps the rows of a column in different banks.
#pragma once

#include <heddle/device.h>

enum { GROUP = 128, TILE_K = 64, TILE_ROW_BYTES = 128 };

static __device__ __forceinline__ unsigned shared_address(const void *pointer) {
    return (unsigned)__cvta_generic_to_shared(pointer);
}

// ---- mbarriers and copies

static __device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

static __device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(barrier) : "memory");
}

// Arrives, and makes the phase wait for bytes that copies bring.
static __device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nAGAIN%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN%=;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void copy_in(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// Makes mbarriers visible to copies.
static __device__ __forceinline__ void fence_async(void) { asm volatile("fence.proxy.async;" ::: "memory"); }

// ---- registers: a producer gives most of its registers to the consumers

#define GIVE_REGISTERS(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
#define TAKE_REGISTERS(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")

// ---- products

// The descriptor of a tile. Its rows are the rows of A, the columns of B, or of a transposed B the rows of k.
static __device__ __forceinline__ unsigned long long descriptor_of(unsigned address) {
    const unsigned long long stride = 8 * TILE_ROW_BYTES; // from eight rows to the next eight
    return (unsigned long long)(address >> 4) | 1ull << 16 | (stride >> 4) << 32 | 1ull << 62;
}

static __device__ __forceinline__ void products_begin(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ __forceinline__ void products_end(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
#define PRODUCTS_WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")

// Keeps the compiler from moving uses of sums to the other side of a wait.
#define KEEP(sum, count)                                                                                               \
    _Pragma("unroll") for (int keep_i = 0; keep_i < (count); keep_i++) asm volatile("" : "+f"((sum)[keep_i])::"memor"  \
                                                                                                              "y")
