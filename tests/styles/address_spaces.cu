__global__ void all(int *o, void *p) {
    __shared__ int s;
    o[0] = __isGlobal(p) + __isShared(p) + __isConstant(p) + __isLocal(p) + __isGridConstant(p);
    o[1] = (int)__cvta_generic_to_shared(&s);
    o[2] = *(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(&s));
    o[3] = (int)__cvta_generic_to_global(o);
    o[4] = (int)__cvta_generic_to_local(p);
    __builtin_assume(o[5] > 0);
    __prof_trigger(1);
#if __CUDA_ARCH__ >= 900
    o[6] = __isClusterShared(p);
    o[7] = __cluster_query_shared_rank(&s);
    o[8] = *(int *)__cluster_map_shared_rank(&s, 0);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    o[9] = __clusterRelativeBlockRank() + __clusterSizeInBlocks() + __clusterDim().x + __clusterIdx().y +
           __clusterGridDimInClusters().z + __clusterDimIsSpecified();
#endif
}
