#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/photon_body.hpp"

namespace tessera::jobs {

const JobKernels& photonKernels() {
  static const JobKernels kernels = makeKernels<PhotonBody<double>>();
  return kernels;
}

}  // namespace tessera::jobs
