#include <thrust/device_vector.h>
#include <thrust/sort.h>
void run(thrust::device_vector<int> &v) { thrust::sort(v.begin(), v.end()); }
