#include "components/rmcrt/read_radiometers.hpp"
#include "components/rmcrt/trace_rays.hpp"

namespace tessera {

template TaskBody traceRays(Label<MediumCell<float>, Cell>, const RayParams&, const RadiationLabels&);
template TaskBody readRadiometers(Label<MediumCell<float>, Cell>, const RayParams&,
                                  const std::vector<Radiometer>&);

}  // namespace tessera
