#pragma once

/// Marks code that runs inside a kernel on every execution space (the only such marker in the project).
#if defined(__CUDACC__)
#define TESSERA_KERNEL __host__ __device__
#else
#define TESSERA_KERNEL
#endif
