#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/matrix_body.hpp"

namespace tessera::jobs {

const JobKernels& matrixKernels() {
  static const JobKernels kernels = makeKernels<MatrixBody>();
  return kernels;
}

}  // namespace tessera::jobs
