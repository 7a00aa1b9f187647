#include "scheduler/jobs/make_kernels.hpp"
#include "tools/jobs/photon_body.hpp"

namespace tessera::jobs {

const JobKernels& floatPhotonKernels() {
  static const JobKernels kernels = makeKernels<PhotonBody<float>>();
  return kernels;
}

}  // namespace tessera::jobs
