#pragma once

/// As TESSERA_KERNEL, for what kernels call rarely or where speed does not count: a compiler makes no copy of
/// the function at each call, which would take minutes where there are many.
#if defined(__CUDACC__)
#define TESSERA_KERNEL_CALL __host__ __device__ __noinline__
#else
#define TESSERA_KERNEL_CALL [[gnu::noinline]]
#endif
