#include <cstring>

#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/molecular_dynamics.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "tools/ensemble/ensemble_plan.hpp"

namespace tessera::ensemble {
namespace {

using engine::Finished;
using engine::Task;
using engine::TaskWidth;
using Md = engine::MolecularDynamics<TaskWidth::Warp>;
using Adder = engine::Adder<TaskWidth::Lane>;

template <class Kind>
Task shipped(const typename Kind::Arguments& arguments) {
  return engine::taskOf<Kind>(engine::shippedProgram().numberOf<Kind>(), arguments);
}

template <class Kind>
typename Kind::Result resultOf(const Finished& finished) {
  typename Kind::Result result;
  std::memcpy(&result, finished.result, sizeof(result));
  return result;
}

Task trajectory(std::span<const double> v) {
  return shipped<Md>({nullptr, static_cast<std::uint64_t>(v[0]), static_cast<std::uint32_t>(v[1]),
                      static_cast<std::uint32_t>(v[2]), v[3], v[4]});
}

std::vector<double> trajectoryResults(const Finished& finished) {
  const auto r = resultOf<Md>(finished);
  return {r.potentialAtStart, r.potential, r.kinetic, r.largestDrift, r.momentum};
}

}  // namespace

const std::vector<EnsembleKind>& ensembleKinds() {
  static const std::vector<EnsembleKind> kinds = {
      {"molecular_dynamics",
       {"seed", "particles", "steps", "dt", "box"},
       {"potential_at_start", "potential", "kinetic", "largest_drift", "momentum"},
       &trajectory,
       &trajectoryResults},
      {"adder",
       {"a", "b"},
       {"sum"},
       [](std::span<const double> v) {
         return shipped<Adder>({static_cast<std::int64_t>(v[0]), static_cast<std::int64_t>(v[1])});
       },
       [](const Finished& f) { return std::vector<double>{static_cast<double>(resultOf<Adder>(f).sum)}; }},
      {"spin",
       {"micros"},
       {},
       [](std::span<const double> v) {
         return shipped<engine::Spin>({static_cast<std::uint64_t>(v[0] * 1000.0), 0});
       },
       [](const Finished&) { return std::vector<double>{}; }},
      {"failing",
       {"code"},
       {},
       [](std::span<const double> v) { return shipped<engine::Failing>({static_cast<std::uint32_t>(v[0])}); },
       [](const Finished&) { return std::vector<double>{}; }},
  };
  return kinds;
}

}  // namespace tessera::ensemble
