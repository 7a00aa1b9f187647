#include "components/rmcrt/radiometers/read_radiometers.hpp"
#include "components/rmcrt/trace_rays.hpp"

namespace tessera {

template TaskBody traceRays(Label<MediumCell<float, 3>, Cell>, const RayParams&, const RadiationLabels&,
                            const RayWork&);
template TaskBody sumRays(Label<MediumCell<float, 3>, Cell>, const RayParams&, const RadiationLabels&);
template TaskBody readRadiometers(Label<MediumCell<float, 3>, Cell>, const RayParams&,
                                  const std::vector<Radiometer>&);

}  // namespace tessera
