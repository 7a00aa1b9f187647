#include "scheduler/jobs/make_kernels.hpp"
#include "tools/bench/jobs/spin_body.hpp"

namespace tessera::jobs {

const JobKernels& spinKernels() {
  static const JobKernels kernels = makeKernels<SpinBody>();
  return kernels;
}

}  // namespace tessera::jobs
