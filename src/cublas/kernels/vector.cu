// Vectors: the functions of BLAS level 1, for elements of six types. Element i of a vector is base[i * step].
#include "cublas/kernels/element.cuh"
#include "cublas/kernels/vector.h"

enum { THREADS = 256 };

#define EACH_ELEMENT(i)                                                                                                \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < job.n;                                    \
         i += (long long)gridDim.x * blockDim.x)

// ---- Each element by itself

template <typename T> INLINE void axpy(const vector_job &job) {
    T *x = (T *)job.x.base, *y = (T *)job.y.base;
    wide<T> alpha = load_scalar<wide<T>>(job.alpha, 0);
    EACH_ELEMENT(i)
    narrow(multiply_add(alpha, widen(x[i * job.x.step]), widen(y[i * job.y.step])), &y[i * job.y.step]);
}

template <typename T> INLINE void scal(const vector_job &job) {
    T *x = (T *)job.x.base;
    wide<T> alpha = load_scalar<wide<T>>(job.alpha, 0);
    EACH_ELEMENT(i)
    narrow(alpha * widen(x[i * job.x.step]), &x[i * job.x.step]);
}

template <typename T> INLINE void copy(const vector_job &job) {
    const T *x = (const T *)job.x.base;
    T *y = (T *)job.y.base;
    EACH_ELEMENT(i)
    y[i * job.y.step] = x[i * job.x.step];
}

template <typename T> INLINE void swap(const vector_job &job) {
    T *x = (T *)job.x.base, *y = (T *)job.y.base;
    EACH_ELEMENT(i) {
        T kept = x[i * job.x.step];
        x[i * job.x.step] = y[i * job.y.step];
        y[i * job.y.step] = kept;
    }
}

// (x, y) = (c x + s y, c y - conj(s) x)
template <typename T> INLINE void rot(const vector_job &job) {
    T *x = (T *)job.x.base, *y = (T *)job.y.base;
    wide<T> c = load_scalar<wide<T>>(job.alpha, 0), s = load_scalar<wide<T>>(job.beta, 0);
    EACH_ELEMENT(i) {
        wide<T> a = widen(x[i * job.x.step]), b = widen(y[i * job.y.step]);
        narrow(multiply_add(c, a, s * b), &x[i * job.x.step]);
        narrow(c * b - conjugate(s) * a, &y[i * job.y.step]);
    }
}

// The modified rotation; the flag says which elements of its matrix are 1, -1 or 0.
template <typename T> INLINE void rotm(const vector_job &job) {
    T *x = (T *)job.x.base, *y = (T *)job.y.base, p[5];
    for (int i = 0; i < 5; i++)
        p[i] = job.parameters_at ? ((const T *)job.parameters_at)[i] : (T)job.parameters[i];
    T flag = p[0];
    if (flag == T(-2))
        return;
    T h11 = flag == T(0) ? T(1) : p[1], h21 = flag == T(1) ? T(-1) : p[2], h12 = flag == T(1) ? T(1) : p[3],
      h22 = flag == T(0) ? T(1) : p[4];
    EACH_ELEMENT(i) {
        T a = x[i * job.x.step], b = y[i * job.y.step];
        x[i * job.x.step] = h11 * a + h12 * b;
        y[i * job.y.step] = h21 * a + h22 * b;
    }
}

// ---- Reductions

INLINE float absolute(float x) { return fabsf(x); }
INLINE double absolute(double x) { return fabs(x); }
template <typename T> INLINE T absolute(complex<T> x) { return absolute(x.re) + absolute(x.im); }

template <typename W> INLINE void store_result(void *to, int, W value) { *(W *)to = value; }
template <> __device__ __forceinline__ void store_result<float>(void *to, int type, float value) {
    if (type == ELEMENT_F16)
        *(half *)to = to_half(value);
    else if (type == ELEMENT_BF16)
        *(bfloat *)to = to_bfloat(value);
    else
        *(float *)to = value;
}

template <typename T, bool CONJUGATES> struct dot_of {
    using state = wide<T>;
    static __device__ __forceinline__ state zero() { return make<state>::from(0, 0); }
    static __device__ __forceinline__ state add(const vector_job &job, state sum, long long i) {
        state x = widen(((const T *)job.x.base)[i * job.x.step]);
        return multiply_add(CONJUGATES ? conjugate(x) : x, widen(((const T *)job.y.base)[i * job.y.step]), sum);
    }
    static __device__ __forceinline__ state join(state a, state b) { return a + b; }
    static __device__ __forceinline__ void store(const vector_job &job, state sum) {
        store_result(job.result, job.result_type, sum);
    }
};
template <typename T> using dot = dot_of<T, false>;
template <typename T> using dotc = dot_of<T, true>;

template <typename T> struct asum {
    using state = real<wide<T>>;
    static __device__ __forceinline__ state zero() { return 0; }
    static __device__ __forceinline__ state add(const vector_job &job, state sum, long long i) {
        return sum + absolute(widen(((const T *)job.x.base)[i * job.x.step]));
    }
    static __device__ __forceinline__ state join(state a, state b) { return a + b; }
    static __device__ __forceinline__ void store(const vector_job &job, state sum) {
        store_result(job.result, job.result_type, sum);
    }
};

// The sum of squares, of large, usual and small numbers apart, so that none overflows or vanishes.
struct squares {
    double large, usual, small;
};

INLINE squares add_square(squares s, double x) {
    x = fabs(x);
    if (x > 0x1p500)
        s.large = fma(x * 0x1p-600, x * 0x1p-600, s.large);
    else if (x < 0x1p-500)
        s.small = fma(x * 0x1p600, x * 0x1p600, s.small);
    else
        s.usual = fma(x, x, s.usual);
    return s;
}
INLINE squares add_squares(squares s, double x) { return add_square(s, x); }
template <typename T> INLINE squares add_squares(squares s, complex<T> x) {
    return add_square(add_square(s, x.re), x.im);
}

template <typename T> struct nrm2 {
    using state = squares;
    static __device__ __forceinline__ state zero() { return {0, 0, 0}; }
    static __device__ __forceinline__ state add(const vector_job &job, state sum, long long i) {
        return add_squares(sum, widen(((const T *)job.x.base)[i * job.x.step]));
    }
    static __device__ __forceinline__ state join(state a, state b) {
        return {a.large + b.large, a.usual + b.usual, a.small + b.small};
    }
    static __device__ __forceinline__ void store(const vector_job &job, state s) {
        double norm;
        if (s.large > 0)
            norm = sqrt(s.large + s.usual * 0x1p-600 * 0x1p-600) * 0x1p600;
        else if (s.usual > 0 || s.usual != s.usual)
            norm = sqrt(s.usual);
        else
            norm = sqrt(s.small) * 0x1p-600;
        store_result(job.result, job.result_type, (real<wide<T>>)norm);
    }
};

// The first of the largest or smallest elements; numbers from 1.
template <typename T, bool IS_MAX> struct extreme {
    struct state {
        real<wide<T>> value;
        long long index; // 0: none yet
    };
    static __device__ __forceinline__ state zero() { return {0, 0}; }
    static __device__ __forceinline__ state add(const vector_job &job, state best, long long i) {
        return join(best, {absolute(widen(((const T *)job.x.base)[i * job.x.step])), i + 1});
    }
    static __device__ __forceinline__ state join(state a, state b) {
        if (!a.index || !b.index)
            return a.index ? a : b;
        if (a.value == b.value)
            return a.index < b.index ? a : b;
        return (IS_MAX ? a.value > b.value : a.value < b.value) ? a : b;
    }
    static __device__ __forceinline__ void store(const vector_job &job, state best) {
        if (job.result_type == ELEMENT_I32)
            *(int *)job.result = (int)best.index;
        else
            *(long long *)job.result = best.index;
    }
};
template <typename T> using amax = extreme<T, true>;
template <typename T> using amin = extreme<T, false>;

template <typename O> INLINE void reduce(const vector_job &job) {
    using state = typename O::state;
    __shared__ state states[THREADS];
    state own = O::zero();
    if (job.is_last)
        for (long long i = threadIdx.x; i < job.n; i += THREADS)
            own = O::join(own, ((const state *)job.partials)[i]);
    else
        EACH_ELEMENT(i)
    own = O::add(job, own, i);
    states[threadIdx.x] = own;
    __syncthreads();
    for (unsigned half_of = THREADS / 2; half_of > 0; half_of /= 2) {
        if (threadIdx.x < half_of)
            states[threadIdx.x] = O::join(states[threadIdx.x], states[threadIdx.x + half_of]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        if (gridDim.x == 1)
            O::store(job, states[0]);
        else
            ((state *)job.partials)[blockIdx.x] = states[0];
    }
}

#define VECTOR(operation, name, T)                                                                                     \
    extern "C" __global__ void operation##_##name(vector_job job) { operation<T>(job); }
#define REDUCTION(operation, name, T)                                                                                  \
    extern "C" __global__ void operation##_##name(vector_job job) { reduce<operation<T>>(job); }
#define ALL(name, T)                                                                                                   \
    VECTOR(axpy, name, T)                                                                                              \
    VECTOR(scal, name, T)                                                                                              \
    VECTOR(copy, name, T)                                                                                              \
    VECTOR(swap, name, T)                                                                                              \
    VECTOR(rot, name, T)                                                                                               \
    REDUCTION(dot, name, T)                                                                                            \
    REDUCTION(asum, name, T)                                                                                           \
    REDUCTION(nrm2, name, T)                                                                                           \
    REDUCTION(amax, name, T)                                                                                           \
    REDUCTION(amin, name, T)
ALL(f32, float)
ALL(f64, double)
ALL(f16, half)
ALL(bf16, bfloat)
ALL(c32, complex<float>)
ALL(c64, complex<double>)
VECTOR(rotm, f32, float)
VECTOR(rotm, f64, double)
REDUCTION(dotc, c32, complex<float>)
REDUCTION(dotc, c64, complex<double>)
