template <class T, int N> struct vec {
    T v[N];
    __device__ vec operator+(const vec &o) const {
        vec r;
        for (int i = 0; i < N; i++)
            r.v[i] = v[i] + o.v[i];
        return r;
    }
};
struct base {
    int k;
    __device__ virtual float f(float x) { return x + k; }
};
struct derived : base {
    __device__ float f(float x) override { return x * k; }
};
template <class T, int N> __global__ void add(vec<T, N> *a) { a[0] = a[1] + a[2]; }
template __global__ void add(vec<double, 3> *);
template __global__ void add(vec<short, 8> *);
__global__ void virt(float *o, int k) {
    base b;
    derived d;
    b.k = d.k = k;
    base *p = k & 1 ? &b : &d;
    o[0] = p->f(o[1]);
}
