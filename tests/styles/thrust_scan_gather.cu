#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/scan.h>
struct pos {
    __host__ __device__ bool operator()(int a) const { return a > 0; }
};
void run(thrust::device_vector<int> &v, thrust::device_vector<int> &w) {
    thrust::inclusive_scan(v.begin(), v.end(), w.begin());
    thrust::gather(v.begin(), v.end(), w.begin(), v.begin());
    thrust::copy_if(v.begin(), v.end(), w.begin(), pos());
}
