#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/paths/path_body.hpp"

namespace tessera::jobs {

const JobKernels& pathKernels() {
  static const JobKernels kernels = makeKernels<PathBody>();
  return kernels;
}

}  // namespace tessera::jobs
