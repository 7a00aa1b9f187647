#include <cstdint>
#include <type_traits>

#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// A number of a cell, from a label or from the deck.
template <class View>
struct CellNumber {
  View values;
  TESSERA_KERNEL double operator()(Index x) const { return values(x); }
};
struct SameNumber {
  double value;
  TESSERA_KERNEL double operator()(Index) const { return value; }
};

/// Calls `body` with what gives the numbers of an input.
template <class Task, class Body>
void withInput(const Task& task, const RadiationInput& input, Body&& body) {
  if (!input.label) return body(SameNumber{input.number});
  const auto values = task.read(Old, *input.label);
  body(CellNumber<std::remove_cvref_t<decltype(values)>>{values});
}

/// The loops of packing, once it is known where the numbers come from.
struct MediumPacking {
  double ofFourthPower;  ///< intensity of a black body: T^4 times this, or the emissive power times that
  double ofPower;
  double solidIntensity;
  double solidEmissivity;

  template <class Task, class Out, class Absorption, class Heat, class Solid>
  void run(const Task& task, const Out& out, Absorption absorption, Heat heat, Solid solid) const {
    const MediumPacking p = *this;
    forEach(task.exec(), "Rmcrt::pack", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const double h = heat(x);
      const double intensity = p.ofFourthPower * fourthPower(h) + p.ofPower * h;
      const bool isSolid = solid(x) != 0.0;
      out(x) = MediumCell<double>{
          {isSolid ? solidCode(p.solidEmissivity) : absorption(x), isSolid ? p.solidIntensity : intensity}};
    });
  }
};

struct PackMedium {
  MediumParams params;
  MediumLabel medium;

  template <class Task>
  void operator()(const Task& task) const {
    constexpr double kByPi = 1.0 / 0x1.921fb54442d18p1;
    const MediumPacking packing{params.isTemperature ? intensityOfFourthPower(params.stefanBoltzmann) : 0.0,
                                params.isTemperature ? 0.0 : kByPi, params.solidIntensity,
                                params.solidEmissivity};
    const auto out = task.write(medium);
    const RadiationInput solid{params.solid, 0.0};
    withInput(task, params.absorption, [&](auto absorption) {
      withInput(task, params.heat, [&](auto heat) {
        withInput(task, solid, [&](auto isSolid) { packing.run(task, out, absorption, heat, isSolid); });
      });
    });
  }
};

/// What a coarse cell is to rays: the mean of the finer cells over it that hold gas, or of the solid ones
/// where these are at least half of all. Equal values have exactly their mean, since they are added in pairs.
template <class Fine>
struct MediumOverCell {
  Fine fine;
  Extent ratio;

  TESSERA_KERNEL MediumCell<double> operator()(Index coarse) const {
    const Index first{coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
    std::int64_t solids = 0;
    MediumCell<double> gas{{0.0, 0.0}};
    MediumCell<double> solid{{0.0, 0.0}};
    for (std::int64_t k = 0; k < ratio.k; ++k) {
      for (std::int64_t j = 0; j < ratio.j; ++j) {
        for (std::int64_t i = 0; i < ratio.i; ++i) {
          const auto cell = fine(first + Index{i, j, k});
          const bool isSolid = isSolidCode(cell[0]);
          solids += isSolid ? 1 : 0;
          add(isSolid ? solid : gas, cell,
              isSolid ? solids : k * ratio.j * ratio.i + j * ratio.i + i + 1 - solids);
        }
      }
    }
    return 2 * solids >= ratio.i * ratio.j * ratio.k ? solid : gas;
  }

 private:
  /// Takes the n-th value into a mean; one that equals the mean does not change it.
  TESSERA_KERNEL static void add(MediumCell<double>& mean, const MediumCell<double>& value, std::int64_t n) {
    const double part = 1.0 / static_cast<double>(n);
    mean[0] += (value[0] - mean[0]) * part;
    mean[1] += (value[1] - mean[1]) * part;
  }
};

struct CoarsenMedium {
  MediumLabel medium;

  template <class Task>
  void operator()(const Task& task) const {
    const auto fine = task.readFiner(New, medium);
    const auto coarse = task.modify(medium);
    const MediumOverCell<std::remove_cvref_t<decltype(fine)>> mean{fine, task.refinementRatio()};
    task.forEachCovered([&](const Box& covered) {
      forEach(task.exec(), "Rmcrt::coarsen", covered, [=] TESSERA_KERNEL(Index x) { coarse(x) = mean(x); });
    });
  }
};

[[gnu::weak]] TaskBody packMedium(const MediumParams& params, MediumLabel medium) {
  return taskBody<Cpu, Gpu>(PackMedium{params, medium});
}

[[gnu::weak]] TaskBody coarsenMedium(MediumLabel medium) { return taskBody<Cpu, Gpu>(CoarsenMedium{medium}); }

}  // namespace tessera
