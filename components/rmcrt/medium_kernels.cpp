#include <cstdint>
#include <type_traits>

#include "components/rmcrt/rmcrt_kernels.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// All cells.
struct EveryCell {
  TESSERA_KERNEL bool operator()(Index) const { return true; }
};

template <class Field>
struct SolidCell {
  Field where;

  TESSERA_KERNEL bool operator()(Index x) const { return where(x) != 0.0; }
};

/// Sets a number of the medium, of some cells, to `value(what an input gives)`.
template <class Task, class Out, class Value, class Cells>
void setFromInput(const Task& task, const RadiationInput& input, int number, const Out& out, Value value,
                  Cells cells) {
  if (input.label) {
    const auto values = task.read(Old, *input.label);
    forEach(task.exec(), "Rmcrt::pack", task.interior(), [=] TESSERA_KERNEL(Index x) {
      if (cells(x)) value.set(out(x)[number], values(x));
    });
  } else {
    const double same = input.number;
    forEach(task.exec(), "Rmcrt::pack", task.interior(), [=] TESSERA_KERNEL(Index x) {
      if (cells(x)) value.set(out(x)[number], same);
    });
  }
}

struct AsGiven {
  template <class Real>
  TESSERA_KERNEL void set(Real& number, double given) const {
    number = static_cast<Real>(given);
  }
};

struct EmissivityAsCode {
  template <class Real>
  TESSERA_KERNEL void set(Real& number, double emissivity) const {
    number = static_cast<Real>(solidCode(emissivity));
  }
};

/// The intensity of a black body.
struct IntensityOfHeat {
  double ofFourthPower;  ///< T^4 times this, or the emissive power times that
  double ofPower;

  template <class Real>
  TESSERA_KERNEL void set(Real& number, double heat) const {
    number = static_cast<Real>(ofFourthPower * fourthPower(heat) + ofPower * heat);
  }
};

template <class Medium>
struct PackMedium {
  using Real = typename MediumTraits<Medium>::Real;

  MediumParams params;
  Label<Medium, Cell> medium;

  template <class Task>
  void operator()(const Task& task) const {
    pack(task);
  }

  /// Gives what it has written.
  template <class Task>
  auto pack(const Task& task) const {
    constexpr double kByPi = 1.0 / kPiOfRays;
    const auto out = task.write(medium);
    setFromInput(task, params.absorption, 0, out, AsGiven{}, EveryCell{});
    const IntensityOfHeat intensity{
        params.isTemperature ? intensityOfFourthPower(params.stefanBoltzmann) : 0.0,
        params.isTemperature ? 0.0 : kByPi};
    setFromInput(task, params.heat, 1, out, intensity, EveryCell{});
    if constexpr (MediumTraits<Medium>::kScatters)
      setFromInput(task, *params.scattering, 2, out, AsGiven{}, EveryCell{});
    if (params.solid) setSolids(task, out);
    return out;
  }

  template <class Task, class Out>
  void setSolids(const Task& task, const Out& out) const {
    const auto where = task.read(Old, params.solid->where);
    const SolidCell<std::remove_cvref_t<decltype(where)>> solid{where};
    const IntensityOfHeat intensity{intensityOfFourthPower(params.stefanBoltzmann), 0.0};
    setFromInput(task, params.solid->emissivity, 0, out, EmissivityAsCode{}, solid);
    setFromInput(task, params.solid->temperature, 1, out, intensity, solid);
    if constexpr (MediumTraits<Medium>::kScatters)
      setFromInput(task, RadiationInput{}, 2, out, AsGiven{}, solid);
  }
};

/// What a coarse cell is to rays: the mean of the finer cells over it that hold gas, or of the solid ones
/// where these are at least half of all. Equal values have exactly their mean.
template <class Fine>
struct MediumOverCell {
  using Medium = MediumOf<Fine>;
  static constexpr int kNumbers = MediumTraits<Medium>::kNumbers;
  using Mean = MediumCell<double, kNumbers>;

  Fine fine;
  Extent ratio;

  TESSERA_KERNEL Medium operator()(Index coarse) const {
    const Index first{coarse.i * ratio.i, coarse.j * ratio.j, coarse.k * ratio.k};
    std::int64_t solids = 0;
    Mean gas{};
    Mean solid{};
    for (std::int64_t k = 0; k < ratio.k; ++k) {
      for (std::int64_t j = 0; j < ratio.j; ++j) {
        for (std::int64_t i = 0; i < ratio.i; ++i) {
          const Medium cell = fine(first + Index{i, j, k});
          const bool isSolid = isSolidCode(cell[0]);
          solids += isSolid ? 1 : 0;
          add(isSolid ? solid : gas, cell,
              isSolid ? solids : k * ratio.j * ratio.i + j * ratio.i + i + 1 - solids);
        }
      }
    }
    return rounded(2 * solids >= ratio.i * ratio.j * ratio.k ? solid : gas);
  }

 private:
  /// Takes the n-th value into a mean; one that equals the mean does not change it.
  TESSERA_KERNEL static void add(Mean& mean, const Medium& value, std::int64_t n) {
    const double part = 1.0 / static_cast<double>(n);
    for (int c = 0; c < kNumbers; ++c) mean[c] += (value[c] - mean[c]) * part;
  }
  TESSERA_KERNEL static Medium rounded(const Mean& mean) {
    Medium cell{};
    for (int c = 0; c < kNumbers; ++c) cell[c] = static_cast<typename MediumTraits<Medium>::Real>(mean[c]);
    return cell;
  }
};

template <class Medium>
struct PackCoarseMedium {
  PackMedium<Medium> all;

  template <class Task>
  void operator()(const Task& task) const {
    const auto fine = task.readFiner(New, all.medium);
    const auto coarse = all.pack(task);
    const MediumOverCell<std::remove_cvref_t<decltype(fine)>> mean{fine, task.refinementRatio()};
    task.forEachCovered([&](const Box& covered) {
      forEach(task.exec(), "Rmcrt::coarsen", covered, [=] TESSERA_KERNEL(Index x) { coarse(x) = mean(x); });
    });
  }
};

template <class Medium>
TaskBody packMedium(const MediumParams& params, Label<Medium, Cell> medium) {
  return taskBody<Cpu, Gpu>(PackMedium<Medium>{params, medium});
}

template <class Medium>
TaskBody packCoarseMedium(const MediumParams& params, Label<Medium, Cell> medium) {
  return taskBody<Cpu, Gpu>(PackCoarseMedium<Medium>{{params, medium}});
}

template TaskBody packMedium(const MediumParams&, Label<MediumCell<double>, Cell>);
template TaskBody packMedium(const MediumParams&, Label<MediumCell<double, 3>, Cell>);
template TaskBody packMedium(const MediumParams&, Label<MediumCell<float>, Cell>);
template TaskBody packMedium(const MediumParams&, Label<MediumCell<float, 3>, Cell>);
template TaskBody packCoarseMedium(const MediumParams&, Label<MediumCell<double>, Cell>);
template TaskBody packCoarseMedium(const MediumParams&, Label<MediumCell<double, 3>, Cell>);
template TaskBody packCoarseMedium(const MediumParams&, Label<MediumCell<float>, Cell>);
template TaskBody packCoarseMedium(const MediumParams&, Label<MediumCell<float, 3>, Cell>);

}  // namespace tessera
