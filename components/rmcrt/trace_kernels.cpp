#include "components/rmcrt/radiometers/read_radiometers.hpp"
#include "components/rmcrt/trace_rays.hpp"

namespace tessera {

template TaskBody traceRays(Label<MediumCell<double>, Cell>, const RayParams&, const RadiationLabels&,
                            const RayWork&);
template TaskBody sumRays(Label<MediumCell<double>, Cell>, const RayParams&, const RadiationLabels&);
template TaskBody readRadiometers(Label<MediumCell<double>, Cell>, const RayParams&,
                                  const std::vector<Radiometer>&);

}  // namespace tessera
