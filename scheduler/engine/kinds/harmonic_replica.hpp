#pragma once

#include <cstdint>

#include "scheduler/engine/kinds/plain_math.hpp"
#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

/// One stretch of a replica: `freedoms` harmonic oscillators of mass 1 and stiffness 1 at a temperature
/// (Boltzmann's constant 1), by Langevin dynamics in the splitting BAOAB, which samples positions of harmonic
/// systems exactly at any stable time step. The potential energy is Gamma-distributed with mean freedoms *
/// temperature / 2. Each oscillator belongs to one lane and draws numbered random numbers, so the bits depend
/// on the arguments alone.
struct HarmonicReplica {
  static constexpr const char* name = "harmonic_replica";
  static constexpr TaskWidth width = TaskWidth::Warp;
  struct Arguments {
    double* state;  ///< positions, then velocities, `freedoms` each, read and written
    std::uint64_t seed;
    double temperature;
    double rescale;                  ///< velocities are multiplied by this first; 0: the state is drawn anew
    std::uint32_t freedomsAndSteps;  ///< freedoms below, steps in the upper 16 bits
    std::uint32_t stretch;           ///< its number: the random numbers of each stretch are its own
  };
  struct Result {
    double potential;      ///< at the end
    double meanPotential;  ///< over the steps
    double kinetic;        ///< at the end
  };
  static constexpr double kDt = 0.5;
  static constexpr double kFriction = 1.0;

  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    const std::uint32_t freedoms = in.freedomsAndSteps & 0xffffU;
    const std::uint32_t steps = in.freedomsAndSteps >> 16;
    auto* sums = static_cast<double*>(group.workspace(3 * 32 * sizeof(double)));
    if (sums == nullptr || freedoms == 0) {
      group.fail(sums == nullptr ? 1 : 2);
      return {};
    }
    for (std::uint32_t part = group.lane(); part < 32; part += group.width()) {
      Sum sum{0.0, 0.0, 0.0};
      for (std::uint32_t i = part; i < freedoms; i += 32) advance(in, i, freedoms, steps, sum);
      sums[part] = sum.potential;
      sums[32 + part] = sum.overSteps;
      sums[64 + part] = sum.kinetic;
    }
    group.sync();
    Result result{0.0, 0.0, 0.0};
    for (int part = 0; part < 32; ++part) {
      result.potential += sums[part];
      result.meanPotential += sums[32 + part];
      result.kinetic += sums[64 + part];
    }
    result.meanPotential /= steps == 0 ? 1 : steps;
    return result;
  }

 private:
  struct Sum {
    double potential, overSteps, kinetic;
  };

  TESSERA_KERNEL static void advance(const Arguments& in, std::uint32_t i, std::uint32_t freedoms,
                                     std::uint32_t steps, Sum& sum) {
    const std::uint64_t stream = std::uint64_t{in.stretch} << 32 | i;
    const double keep = plainExp(-kFriction * kDt);
    const double noise = sqrt((1.0 - keep * keep) * in.temperature);
    double x = in.state[i];
    double v = in.state[freedoms + i] * in.rescale;
    if (in.rescale == 0.0) {
      x = sqrt(in.temperature) * randomNormal(in.seed, stream, std::uint64_t{steps} + 1);
      v = sqrt(in.temperature) * randomNormal(in.seed, stream, std::uint64_t{steps} + 2);
    }
    for (std::uint32_t step = 0; step < steps; ++step) {
      v -= 0.5 * kDt * x;
      x += 0.5 * kDt * v;
      v = keep * v + noise * randomNormal(in.seed, stream, step);
      x += 0.5 * kDt * v;
      v -= 0.5 * kDt * x;
      sum.overSteps += 0.5 * x * x;
    }
    in.state[i] = x;
    in.state[freedoms + i] = v;
    sum.potential += 0.5 * x * x;
    sum.kinetic += 0.5 * v * v;
  }
};

}  // namespace tessera::engine
