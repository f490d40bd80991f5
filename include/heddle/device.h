// CUDA C device code without a CUDA toolkit: the names that a kernel uses, built on the builtins of clang 14.
//
// A kernel file includes this header first and is compiled to PTX with
//
//   clang -x cuda -std=c++14 --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-path=/nonexistent -nocudainc -nocudalib
//         -Xclang -target-feature -Xclang +ptx63 -Xclang -disable-lifetime-markers -mllvm -disable-block-placement
//         -O2 -Wall -Wextra -Werror -I include -S kernel.cu -o kernel.ptx
//
// The target is sm_70 with PTX 6.3, the oldest pair that has everything below (because of match.sync and activemask).
// Every later GPU and driver accepts it. --cuda-path keeps clang from searching for a toolkit, so that the PTX is the
// same on every computer. The two flags before -O2 keep basic blocks in the order of the source. Without them clang
// puts a loop's end before its beginning, and every iteration costs one branch more than in nvcc's PTX. Under nvcc this
// header defines only Heddle's own instructions, and the same kernel compiles there.
//
// Meanings follow the CUDA C++ Programming Guide, instructions the PTX ISA manual. With 32-bit floats, `/` and sqrtf
// round correctly, a * b + c may become one fused multiply-add, and subnormal numbers are kept. Left out: textures and
// surfaces, half precision, cooperative groups, dynamic parallelism, host-side CUDA C.
#pragma once

#ifndef __NVCC__

#if !defined(__clang__) || !defined(__CUDA_ARCH__)
#error "heddle/device.h is for device code: compile with clang -x cuda --cuda-device-only"
#endif

typedef __SIZE_TYPE__ size_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

// All functions of this header are inlined, and absent from PTX that does not use them.
#define HEDDLE_DEVICE static __device__ __forceinline__

// ---- Vector types -------------------------------------------------------------------------------------------------

#define HEDDLE_VECTOR(name, type, align2, align4)                                                                      \
    struct name##1 {                                                                                                   \
        type x;                                                                                                        \
    };                                                                                                                 \
    struct __align__(align2) name##2 {                                                                                 \
        type x, y;                                                                                                     \
    };                                                                                                                 \
    struct name##3 {                                                                                                   \
        type x, y, z;                                                                                                  \
    };                                                                                                                 \
    struct __align__(align4) name##4 {                                                                                 \
        type x, y, z, w;                                                                                               \
    };                                                                                                                 \
    HEDDLE_DEVICE name##1 make_##name##1(type x) { return name##1 {x}; }                                               \
    HEDDLE_DEVICE name##2 make_##name##2(type x, type y) { return name##2 {x, y}; }                                    \
    HEDDLE_DEVICE name##3 make_##name##3(type x, type y, type z) { return name##3 {x, y, z}; }                         \
    HEDDLE_DEVICE name##4 make_##name##4(type x, type y, type z, type w) { return name##4 {x, y, z, w}; }

HEDDLE_VECTOR(char, signed char, 2, 4)
HEDDLE_VECTOR(uchar, unsigned char, 2, 4)
HEDDLE_VECTOR(short, short, 4, 8)
HEDDLE_VECTOR(ushort, unsigned short, 4, 8)
HEDDLE_VECTOR(int, int, 8, 16)
HEDDLE_VECTOR(uint, unsigned int, 8, 16)
HEDDLE_VECTOR(longlong, long long, 16, 16)
HEDDLE_VECTOR(ulonglong, unsigned long long, 16, 16)
HEDDLE_VECTOR(float, float, 8, 16)
HEDDLE_VECTOR(double, double, 16, 16)
#undef HEDDLE_VECTOR

struct dim3 {
    unsigned x, y, z;
    __device__ constexpr dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
    __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

// ---- Thread and block indices -------------------------------------------------------------------------------------

#define HEDDLE_COORDINATE(axis, reg)                                                                                   \
    __declspec(property(get = read_##axis)) unsigned axis;                                                             \
    HEDDLE_DEVICE unsigned read_##axis() { return __nvvm_read_ptx_sreg_##reg##_##axis(); }
#define HEDDLE_COORDINATES(variable, reg)                                                                              \
    struct heddle_##reg {                                                                                              \
        HEDDLE_COORDINATE(x, reg)                                                                                      \
        HEDDLE_COORDINATE(y, reg)                                                                                      \
        HEDDLE_COORDINATE(z, reg)                                                                                      \
        __device__ operator uint3() const { return uint3{read_x(), read_y(), read_z()}; }                              \
        __device__ operator dim3() const { return dim3(read_x(), read_y(), read_z()); }                                \
    };                                                                                                                 \
    extern const __device__ __attribute__((weak)) heddle_##reg variable;

HEDDLE_COORDINATES(threadIdx, tid)
HEDDLE_COORDINATES(blockIdx, ctaid)
HEDDLE_COORDINATES(blockDim, ntid)
HEDDLE_COORDINATES(gridDim, nctaid)
#undef HEDDLE_COORDINATES
#undef HEDDLE_COORDINATE

// PTX's WARP_SZ instead of 32: a simulated machine may have another warp size.
struct heddle_warp_size {
    __device__ operator int() const {
        int threads;
        asm("mov.u32 %0, WARP_SZ;" : "=r"(threads));
        return threads;
    }
};
extern const __device__ __attribute__((weak)) heddle_warp_size warpSize;

HEDDLE_DEVICE unsigned __lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
HEDDLE_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
HEDDLE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }

// ---- The services of the driver -----------------------------------------------------------------------------------

extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2))); // becomes vprintf
extern "C" __device__ void *malloc(size_t bytes);
extern "C" __device__ void free(void *memory);
extern "C" __device__ void __assertfail(const char *condition, const char *file, unsigned line, const char *function,
                                        size_t char_bytes);
HEDDLE_DEVICE void __trap() { asm volatile("trap;"); }

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, sizeof(char)))
#endif

// ---- Barriers and fences ------------------------------------------------------------------------------------------

// __syncthreads() is a builtin of clang.
HEDDLE_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
HEDDLE_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
HEDDLE_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
HEDDLE_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

// ---- Warp votes, matches and shuffles -----------------------------------------------------------------------------

HEDDLE_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
HEDDLE_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
HEDDLE_DEVICE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
HEDDLE_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }

static __device__ __forceinline__ __attribute__((convergent)) unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

#define HEDDLE_MATCH(type, as, bits)                                                                                   \
    HEDDLE_DEVICE unsigned __match_any_sync(unsigned mask, type value) {                                               \
        return __nvvm_match_any_sync_i##bits(mask, as(value));                                                         \
    }                                                                                                                  \
    HEDDLE_DEVICE unsigned __match_all_sync(unsigned mask, type value, int *all_equal) {                               \
        return __nvvm_match_all_sync_i##bits##p(mask, as(value), all_equal);                                           \
    }
HEDDLE_MATCH(int, unsigned, 32)
HEDDLE_MATCH(unsigned, unsigned, 32)
HEDDLE_MATCH(long long, (unsigned long long), 64)
HEDDLE_MATCH(unsigned long long, (unsigned long long), 64)
HEDDLE_MATCH(float, __nvvm_bitcast_f2i, 32)
HEDDLE_MATCH(double, __nvvm_bitcast_d2ll, 64)
#undef HEDDLE_MATCH

// The last operand of shfl.sync: segment mask in bits 8 to 12, and the clamp (lane 31, or 0 for `up`) in bits 0 to 4.
#define HEDDLE_SHUFFLE(name, mode, position, clamp)                                                                    \
    HEDDLE_DEVICE int name(unsigned mask, int value, position at, int width = 32) {                                    \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, (int)at, ((32 - width) << 8) | clamp);                       \
    }                                                                                                                  \
    HEDDLE_DEVICE unsigned name(unsigned mask, unsigned value, position at, int width = 32) {                          \
        return (unsigned)name(mask, (int)value, at, width);                                                            \
    }                                                                                                                  \
    HEDDLE_DEVICE float name(unsigned mask, float value, position at, int width = 32) {                                \
        return __nvvm_shfl_sync_##mode##_f32(mask, value, (int)at, ((32 - width) << 8) | clamp);                       \
    }                                                                                                                  \
    HEDDLE_DEVICE unsigned long long name(unsigned mask, unsigned long long value, position at, int width = 32) {      \
        unsigned low = name(mask, (unsigned)value, at, width);                                                         \
        unsigned high = name(mask, (unsigned)(value >> 32), at, width);                                                \
        return (unsigned long long)high << 32 | low;                                                                   \
    }                                                                                                                  \
    HEDDLE_DEVICE long long name(unsigned mask, long long value, position at, int width = 32) {                        \
        return (long long)name(mask, (unsigned long long)value, at, width);                                            \
    }                                                                                                                  \
    HEDDLE_DEVICE double name(unsigned mask, double value, position at, int width = 32) {                              \
        return __nvvm_bitcast_ll2d(name(mask, (long long)__nvvm_bitcast_d2ll(value), at, width));                      \
    }
HEDDLE_SHUFFLE(__shfl_sync, idx, int, 31)
HEDDLE_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
HEDDLE_SHUFFLE(__shfl_down_sync, down, unsigned, 31)
HEDDLE_SHUFFLE(__shfl_xor_sync, bfly, int, 31)
#undef HEDDLE_SHUFFLE

// ---- Atomics: each returns the old value -------------------------------------------------------------------------

#define HEDDLE_ATOMIC(name, type, builtin, as)                                                                         \
    HEDDLE_DEVICE type name(type *address, type value) { return (type)builtin((as *)address, (as)value); }
#define HEDDLE_ATOMIC_INTEGERS(name, operation)                                                                        \
    HEDDLE_ATOMIC(name, int, __nvvm_atom_##operation##_gen_i, int)                                                     \
    HEDDLE_ATOMIC(name, unsigned, __nvvm_atom_##operation##_gen_i, int)                                                \
    HEDDLE_ATOMIC(name, long long, __nvvm_atom_##operation##_gen_ll, long long)                                        \
    HEDDLE_ATOMIC(name, unsigned long long, __nvvm_atom_##operation##_gen_ll, long long)
#define HEDDLE_ATOMIC_ORDERED(name, operation)                                                                         \
    HEDDLE_ATOMIC(name, int, __nvvm_atom_##operation##_gen_i, int)                                                     \
    HEDDLE_ATOMIC(name, unsigned, __nvvm_atom_##operation##_gen_ui, unsigned)                                          \
    HEDDLE_ATOMIC(name, long long, __nvvm_atom_##operation##_gen_ll, long long)                                        \
    HEDDLE_ATOMIC(name, unsigned long long, __nvvm_atom_##operation##_gen_ull, unsigned long long)

HEDDLE_ATOMIC_INTEGERS(atomicAdd, add)
HEDDLE_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f, float)
HEDDLE_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d, double)
HEDDLE_ATOMIC_INTEGERS(atomicSub, sub)
HEDDLE_ATOMIC_INTEGERS(atomicExch, xchg)
HEDDLE_ATOMIC_INTEGERS(atomicAnd, and)
HEDDLE_ATOMIC_INTEGERS(atomicOr, or)
HEDDLE_ATOMIC_INTEGERS(atomicXor, xor)
HEDDLE_ATOMIC_ORDERED(atomicMin, min)
HEDDLE_ATOMIC_ORDERED(atomicMax, max)
HEDDLE_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui, unsigned)
HEDDLE_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui, unsigned)
#undef HEDDLE_ATOMIC_ORDERED
#undef HEDDLE_ATOMIC_INTEGERS
#undef HEDDLE_ATOMIC

HEDDLE_DEVICE float atomicExch(float *address, float value) {
    return __nvvm_bitcast_i2f(atomicExch((int *)address, __nvvm_bitcast_f2i(value)));
}

#define HEDDLE_ATOMIC_CAS(type, builtin, as)                                                                           \
    HEDDLE_DEVICE type atomicCAS(type *address, type compare, type value) {                                            \
        return (type)builtin((as *)address, (as)compare, (as)value);                                                   \
    }
HEDDLE_ATOMIC_CAS(int, __nvvm_atom_cas_gen_i, int)
HEDDLE_ATOMIC_CAS(unsigned, __nvvm_atom_cas_gen_i, int)
HEDDLE_ATOMIC_CAS(long long, __nvvm_atom_cas_gen_ll, long long)
HEDDLE_ATOMIC_CAS(unsigned long long, __nvvm_atom_cas_gen_ll, long long)
#undef HEDDLE_ATOMIC_CAS

// ---- Addresses inside a window, as instructions with a state space take them ---------------------------------------

HEDDLE_DEVICE size_t __cvta_generic_to_shared(const void *pointer) {
    return (size_t)(const __attribute__((address_space(3))) void *)pointer;
}
HEDDLE_DEVICE size_t __cvta_generic_to_global(const void *pointer) {
    return (size_t)(const __attribute__((address_space(1))) void *)pointer;
}

// ---- Read-only loads (ld.global.nc) --------------------------------------------------------------------------------

#define HEDDLE_LDG(type, suffix)                                                                                       \
    HEDDLE_DEVICE type __ldg(const type *address) { return __nvvm_ldg_##suffix(address); }
HEDDLE_LDG(int, i)
HEDDLE_LDG(unsigned, ui)
HEDDLE_LDG(long long, ll)
HEDDLE_LDG(unsigned long long, ull)
HEDDLE_LDG(unsigned char, uc)
HEDDLE_LDG(float, f)
HEDDLE_LDG(double, d)
#undef HEDDLE_LDG

// ---- Integers -----------------------------------------------------------------------------------------------------

HEDDLE_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
HEDDLE_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HEDDLE_DEVICE int __clz(int x) { // clz.b32 returns 32 for 0; the C builtin is undefined there
    int zeros;
    asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(x));
    return zeros;
}
HEDDLE_DEVICE int __clzll(long long x) {
    int zeros;
    asm("clz.b64 %0, %1;" : "=r"(zeros) : "l"(x));
    return zeros;
}
HEDDLE_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
HEDDLE_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
HEDDLE_DEVICE int __ffs(int x) { return 32 - __clz(x & -x); }
HEDDLE_DEVICE int __ffsll(long long x) { return 64 - __clzll(x & -x); }
HEDDLE_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    return (unsigned)__nvvm_prmt((int)a, (int)b, (int)selector);
}
HEDDLE_DEVICE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
HEDDLE_DEVICE unsigned __umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
HEDDLE_DEVICE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
HEDDLE_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
HEDDLE_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
HEDDLE_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return __nvvm_mulhi_ull(a, b);
}
HEDDLE_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}
HEDDLE_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}

HEDDLE_DEVICE int abs(int x) { return x < 0 ? -x : x; }
#define HEDDLE_MIN_MAX(type)                                                                                           \
    HEDDLE_DEVICE type min(type a, type b) { return a < b ? a : b; }                                                   \
    HEDDLE_DEVICE type max(type a, type b) { return a > b ? a : b; }
HEDDLE_MIN_MAX(int)
HEDDLE_MIN_MAX(unsigned)
HEDDLE_MIN_MAX(long long)
HEDDLE_MIN_MAX(unsigned long long)
#undef HEDDLE_MIN_MAX

// ---- Conversions --------------------------------------------------------------------------------------------------

HEDDLE_DEVICE int __float_as_int(float x) { return __nvvm_bitcast_f2i(x); }
HEDDLE_DEVICE unsigned __float_as_uint(float x) { return (unsigned)__nvvm_bitcast_f2i(x); }
HEDDLE_DEVICE float __int_as_float(int x) { return __nvvm_bitcast_i2f(x); }
HEDDLE_DEVICE float __uint_as_float(unsigned x) { return __nvvm_bitcast_i2f((int)x); }
HEDDLE_DEVICE long long __double_as_longlong(double x) { return __nvvm_bitcast_d2ll(x); }
HEDDLE_DEVICE double __longlong_as_double(long long x) { return __nvvm_bitcast_ll2d(x); }
HEDDLE_DEVICE int __double2hiint(double x) { return __nvvm_d2i_hi(x); }
HEDDLE_DEVICE int __double2loint(double x) { return __nvvm_d2i_lo(x); }
HEDDLE_DEVICE double __hiloint2double(int high, int low) { return __nvvm_lohi_i2d(low, high); }

// Rounding suffixes: rn nearest even, rz towards zero, ru up (PTX: rp), rd down (PTX: rm).
#define HEDDLE_CONVERT(from_name, from, to_name, to, builtin)                                                          \
    HEDDLE_DEVICE to __##from_name##2##to_name##_rn(from x) { return builtin##_rn(x); }                                \
    HEDDLE_DEVICE to __##from_name##2##to_name##_rz(from x) { return builtin##_rz(x); }                                \
    HEDDLE_DEVICE to __##from_name##2##to_name##_ru(from x) { return builtin##_rp(x); }                                \
    HEDDLE_DEVICE to __##from_name##2##to_name##_rd(from x) { return builtin##_rm(x); }
HEDDLE_CONVERT(float, float, int, int, __nvvm_f2i)
HEDDLE_CONVERT(float, float, uint, unsigned, __nvvm_f2ui)
HEDDLE_CONVERT(float, float, ll, long long, __nvvm_f2ll)
HEDDLE_CONVERT(float, float, ull, unsigned long long, __nvvm_f2ull)
HEDDLE_CONVERT(double, double, int, int, __nvvm_d2i)
HEDDLE_CONVERT(double, double, uint, unsigned, __nvvm_d2ui)
HEDDLE_CONVERT(double, double, ll, long long, __nvvm_d2ll)
HEDDLE_CONVERT(double, double, ull, unsigned long long, __nvvm_d2ull)
HEDDLE_CONVERT(double, double, float, float, __nvvm_d2f)
HEDDLE_CONVERT(int, int, float, float, __nvvm_i2f)
HEDDLE_CONVERT(uint, unsigned, float, float, __nvvm_ui2f)
HEDDLE_CONVERT(ll, long long, float, float, __nvvm_ll2f)
HEDDLE_CONVERT(ull, unsigned long long, float, float, __nvvm_ull2f)
HEDDLE_CONVERT(int, int, double, double, __nvvm_i2d)
HEDDLE_CONVERT(uint, unsigned, double, double, __nvvm_ui2d)
HEDDLE_CONVERT(ll, long long, double, double, __nvvm_ll2d)
HEDDLE_CONVERT(ull, unsigned long long, double, double, __nvvm_ull2d)
#undef HEDDLE_CONVERT

#include "device_math.h"

#endif // __NVCC__

#include "device_extensions.h"
