#include "tools/simulation/step_failed.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "tools/simulation/model.hpp"

namespace tessera {

StepFailed stepFailed(const Error& cause, const StepMoment& moment, const Transport& transport) {
  std::ostringstream where;
  where.precision(12);
  where << "  (";
  if (transport.size() > 1) where << "rank " << transport.rank() << " of " << transport.size() << ", ";
  if (moment.plan == static_cast<std::size_t>(PlanId::Initial)) {
    where << "initial state";
  } else {
    where << "step " << moment.shownStep;
  }
  where << ", t = " << moment.time << ")";
  std::string text = cause.message();
  text.insert(std::min(text.find('\n'), text.size()), where.str());
  return StepFailed(cause.kind(), std::move(text));
}

}  // namespace tessera
