#pragma once

#include <cstdint>

#include "scheduler/engine/kinds/plain_math.hpp"
#include "scheduler/engine/task_kind.hpp"

namespace tessera::engine {

/// Particles of mass 1 that attract each other by the potential sin^2(min(d, pi / 2)) of their distance d:
/// velocity Verlet in open space, all pairs. Energies are exact to order dt^2. Each particle's force is
/// summed by one lane in the order of the others' numbers, and energies by 32 partial sums, so the bits
/// depend neither on the width of the group nor on where the task runs.
template <TaskWidth kWidth>
struct MolecularDynamics {
  static constexpr const char* name =
      kWidth == TaskWidth::Block ? "molecular_dynamics_block" : "molecular_dynamics";
  static constexpr TaskWidth width = kWidth;
  struct Arguments {
    double* state;  ///< 3 n positions, then 3 n velocities, read and written; nullptr: made from the seed
    std::uint64_t seed;
    std::uint32_t particles;
    std::uint32_t steps;
    double dt;
    double box;  ///< without a state: positions are uniform in a cube of this edge, velocities are 0
  };
  struct Result {
    double potentialAtStart, kineticAtStart, potential, kinetic;
    double largestDrift;  ///< of potential + kinetic from the start, over all steps
    double momentum;      ///< largest component at the end
  };

  template <class Group>
  TESSERA_KERNEL static Result run(const Arguments& in, Group& group) {
    const std::uint32_t n = in.particles;
    auto* memory = static_cast<double*>(group.workspace((10 * std::uint64_t{n} + kSums) * sizeof(double)));
    if (memory == nullptr || n == 0) {
      group.fail(memory == nullptr ? 1 : 2);
      return {};
    }
    Bodies bodies{memory, memory + 3 * n, memory + 6 * n, memory + 9 * n, memory + 10 * n, n};
    place(in, bodies, group);
    group.sync();
    forces(bodies, group);
    group.sync();
    Result result{};
    const Energies start = energies(bodies, group);
    result.potentialAtStart = start.potential;
    result.kineticAtStart = start.kinetic;
    Energies now = start;
    for (std::uint32_t step = 0; step < in.steps; ++step) {
      advance(in.dt, bodies, group);
      now = energies(bodies, group);
      const double drift = (now.potential - start.potential) + (now.kinetic - start.kinetic);
      const double size = drift < 0 ? -drift : drift;
      if (size > result.largestDrift) result.largestDrift = size;
      if (step % 64 == 63 && group.broadcast(group.stopAsked())) break;
    }
    result.potential = now.potential;
    result.kinetic = now.kinetic;
    result.momentum = momentum(bodies);
    if (in.state != nullptr) {
      for (std::uint32_t i = group.lane(); i < 6 * n; i += group.width()) in.state[i] = memory[i];
    }
    group.sync();
    return result;
  }

 private:
  static constexpr std::uint32_t kSums = 2 * 32;
  struct Bodies {
    double* x;  ///< x, y, z of particle 0, of particle 1 ...
    double* v;
    double* f;
    double* potential;  ///< of each particle, half of its pairs'
    double* sums;
    std::uint32_t n;
  };
  struct Energies {
    double potential, kinetic;
  };

  template <class Group>
  TESSERA_KERNEL static void place(const Arguments& in, const Bodies& bodies, Group& group) {
    for (std::uint32_t i = group.lane(); i < 3 * bodies.n; i += group.width()) {
      bodies.x[i] = in.state != nullptr ? in.state[i] : in.box * randomUniform(in.seed, 0, i);
      bodies.v[i] = in.state != nullptr ? in.state[3 * bodies.n + i] : 0.0;
    }
  }

  template <class Group>
  TESSERA_KERNEL static void forces(const Bodies& bodies, Group& group) {
    for (std::uint32_t i = group.lane(); i < bodies.n; i += group.width()) {
      const double x = bodies.x[3 * i], y = bodies.x[3 * i + 1], z = bodies.x[3 * i + 2];
      double fx = 0.0, fy = 0.0, fz = 0.0, potential = 0.0;
      for (std::uint32_t j = 0; j < bodies.n; ++j) {
        const double dx = x - bodies.x[3 * j], dy = y - bodies.x[3 * j + 1], dz = z - bodies.x[3 * j + 2];
        const double square = dx * dx + dy * dy + dz * dz;
        if (square >= kHalfPi * kHalfPi) {
          potential += 0.5;
          continue;
        }
        if (square == 0.0) continue;  // itself, or one in the same place: no force and no energy
        const double d = sqrt(square);
        const double sine = plainSine(d);
        const double pull = -2.0 * sine * plainCosine(d) / d;
        potential += 0.5 * sine * sine;
        fx += pull * dx;
        fy += pull * dy;
        fz += pull * dz;
      }
      bodies.f[3 * i] = fx;
      bodies.f[3 * i + 1] = fy;
      bodies.f[3 * i + 2] = fz;
      bodies.potential[i] = potential;
    }
  }

  /// x += v dt + f dt^2 / 2; v += (f + new f) dt / 2, in two halves.
  template <class Group>
  TESSERA_KERNEL static void advance(double dt, const Bodies& bodies, Group& group) {
    for (std::uint32_t i = group.lane(); i < 3 * bodies.n; i += group.width()) {
      bodies.v[i] += 0.5 * dt * bodies.f[i];
      bodies.x[i] += dt * bodies.v[i];
    }
    group.sync();
    forces(bodies, group);
    group.sync();
    for (std::uint32_t i = group.lane(); i < 3 * bodies.n; i += group.width()) {
      bodies.v[i] += 0.5 * dt * bodies.f[i];
    }
    group.sync();
  }

  template <class Group>
  TESSERA_KERNEL static Energies energies(const Bodies& bodies, Group& group) {
    for (std::uint32_t part = group.lane(); part < 32; part += group.width()) {
      double potential = 0.0;
      double kinetic = 0.0;
      for (std::uint32_t i = part; i < bodies.n; i += 32) {
        const double* v = bodies.v + 3 * i;
        potential += bodies.potential[i];
        kinetic += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      }
      bodies.sums[part] = potential;
      bodies.sums[32 + part] = kinetic;
    }
    group.sync();
    Energies sum{0.0, 0.0};
    for (std::uint32_t part = 0; part < 32; ++part) {
      sum.potential += bodies.sums[part];
      sum.kinetic += bodies.sums[32 + part];
    }
    group.sync();
    return sum;
  }

  TESSERA_KERNEL static double momentum(const Bodies& bodies) {
    double largest = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      double sum = 0.0;
      for (std::uint32_t i = 0; i < bodies.n; ++i) sum += bodies.v[3 * i + axis];
      largest = sum > largest ? sum : -sum > largest ? -sum : largest;
    }
    return largest;
  }
};

}  // namespace tessera::engine
