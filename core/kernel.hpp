#pragma once

/// Marks code that runs inside a kernel on every execution space (with the one below the only such marker in
/// the project).
#if defined(__CUDACC__)
#define TESSERA_KERNEL __host__ __device__
#else
#define TESSERA_KERNEL
#endif

/// The same for what kernels call rarely or where speed does not count: nvcc shall not put a copy at each
/// call.
#if defined(__CUDACC__)
#define TESSERA_KERNEL_CALL __host__ __device__ __noinline__
#else
#define TESSERA_KERNEL_CALL
#endif
