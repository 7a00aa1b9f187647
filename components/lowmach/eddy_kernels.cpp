#include <cmath>

#include "components/error_norms_kernels.hpp"
#include "components/lowmach/face_fields.hpp"
#include "components/lowmach/lowmach_kernels.hpp"
#include "components/stencils/slopes.hpp"

namespace tessera {

/// The strain of the velocity in the middle of cells. Of an axis of one cell `e` leads nowhere and `inverse`
/// is 0.
template <class Field>
struct StrainOfCell {
  Field u[kAxes];
  NumberOrField<Field> open[kAxes];
  Index e[kAxes];
  double inverse[kAxes];

  TESSERA_KERNEL double along(int a, Index x) const { return inverse[a] * (u[a](x + e[a]) - u[a](x)); }
  /// The mean of the four edges of the cell; 0 where one of the axes has one cell, since another velocity
  /// stands in for that along it.
  TESSERA_KERNEL double across(int a, int b, Index x) const {
    if (inverse[a] == 0.0 || inverse[b] == 0.0) return 0.0;
    const Index y = x + e[a];
    return 0.25 * ((edge(a, b, x) + edge(a, b, y)) + (edge(a, b, x + e[b]) + edge(a, b, y + e[b])));
  }
  TESSERA_KERNEL double component(int n, Index x) const {
    return n < kAxes ? along(n, x) : n == 3 ? across(0, 1, x) : n == 4 ? across(0, 2, x) : across(1, 2, x);
  }
  /// The root of 2 S S.
  TESSERA_KERNEL double amount(Index x) const {
    double sum = 0.0;
    for (int n = 0; n < 6; ++n) {
      const double s = component(n, x);
      sum += (n < kAxes ? 2.0 : 4.0) * s * s;
    }
    return std::sqrt(sum);
  }

 private:
  TESSERA_KERNEL double edge(int a, int b, Index y) const { return 0.5 * (slope(a, b, y) + slope(b, a, y)); }
  /// Of the velocity along a, across b, at the edge below y.
  TESSERA_KERNEL double slope(int a, int b, Index y) const {
    const double near = 2.0 - open[a](y) * open[a](y - e[b]);
    return inverse[b] * near * (u[a](y) - u[a](y - e[b]));
  }
};

template <class Task>
auto strainOf(const Task& task, const FlowParams& params, Generation generation, const FlowState& state) {
  const auto u = readFaces(task, generation, state.velocity, params.firstAxis());
  using Field = std::remove_cvref_t<decltype(u)>;
  const NumberOrField<Field> one{u, 1.0, 0.0};
  StrainOfCell<Field> strain{{u, u, u}, {one, one, one}, {}, {}};
  for (int d = 0; d < kAxes; ++d) {
    if (!params.active[static_cast<std::size_t>(d)]) continue;
    strain.u[d] = readFaces(task, generation, state.velocity, d);
    strain.open[d] = openFaces(task, params, generation, d, u);
  }
  setAxes(task, params, strain.e, strain.inverse);
  return strain;
}

/// The square of the width of cells: the root or third root of their size, along resolved axes.
template <class Task>
double squareOfWidth(const Task& task, const FlowParams& params) {
  double size = 1.0;
  int axes = 0;
  for (int d = 0; d < kAxes; ++d) {
    if (!params.active[static_cast<std::size_t>(d)]) continue;
    size *= task.level().spacing()[d];
    ++axes;
  }
  return std::pow(size, 2.0 / axes);
}

struct ViscosityOfEddies {
  FlowParams params;
  Generation generation;
  FlowState state;

  template <class Task>
  void operator()(const Task& task) const {
    const auto strain = strainOf(task, params, generation, state);
    const auto density = densityOf(task, params, generation, state, strain.u[0]);
    const auto fluid = fluidOf(task, params, generation, strain.u[0]);
    const auto viscosity = task.write(params.eddies.viscosity);
    double factor = params.eddies.constant * params.eddies.constant;
    if (params.eddies.model == Turbulence::Dynamic && generation == Old) {
      const double square = task.reduced(params.eddies.square);
      const double product = task.reduced(params.eddies.product);
      factor = square > 0.0 && product > 0.0 ? product / square : 0.0;
    }
    factor *= squareOfWidth(task, params);
    forEach(task.exec(), "Lowmach::eddies", task.interior(), [=] TESSERA_KERNEL(Index x) {
      viscosity(x) = fluid(x) * (density(x) * (factor * strain.amount(x)));
    });
  }
};

struct StrainOfFlow {
  FlowParams params;
  FlowState state;
  EddyLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto strain = strainOf(task, params, Old, state);
    const auto velocity = task.write(labels.velocity);
    const auto strains = task.write(labels.strain);
    for (int d = 0; d < kAxes; ++d) {
      const auto u = strain.u[d];
      const auto target = velocity[d];
      const Index e = strain.e[d];
      const double half = strain.inverse[d] > 0.0 ? 0.5 : 0.0;
      forEach(task.exec(), "Lowmach::centreVelocity", task.interior(),
              [=] TESSERA_KERNEL(Index x) { target(x) = half * (u(x) + u(x + e)); });
    }
    for (int n = 0; n < 6; ++n) {
      const auto target = strains[n];
      forEach(task.exec(), "Lowmach::strain", task.interior(),
              [=] TESSERA_KERNEL(Index x) { target(x) = strain.component(n, x); });
    }
  }
};

/// What M. Germano's identity says of the constant in a cell (Phys. Fluids A 3, 1991; D. K. Lilly, 1992):
/// with the filter of 1/4, 1/2, 1/4 along each axis, L = (u u)^ - u^ u^, M = 2 w^2 ((|S| S)^ - 4 |S^| S^).
template <class Field>
struct GermanoOfCell {
  Field u[kAxes];
  Field s[6];
  Index reach;    ///< 1 along resolved axes
  double square;  ///< of the width

  TESSERA_KERNEL void at(Index x, double& product, double& amount) const {
    double fu[kAxes] = {0.0, 0.0, 0.0};
    double fuu[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double fs[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double fm[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (std::int64_t k = -reach.k; k <= reach.k; ++k) {
      for (std::int64_t j = -reach.j; j <= reach.j; ++j) {
        for (std::int64_t i = -reach.i; i <= reach.i; ++i) {
          const double w = weight(i, reach.i) * weight(j, reach.j) * weight(k, reach.k);
          take(x + Index{i, j, k}, w, fu, fuu, fs, fm);
        }
      }
    }
    const double hat = amountOf(fs);
    double l[6];
    for (int n = 0; n < 6; ++n) l[n] = fuu[n] - fu[row(n)] * fu[column(n)];
    const double trace = (l[0] + l[1] + l[2]) / 3.0;
    product = 0.0;
    amount = 0.0;
    for (int n = 0; n < 6; ++n) {
      const double m = 2.0 * square * (fm[n] - 4.0 * hat * fs[n]);
      const double times = n < kAxes ? 1.0 : 2.0;
      product += times * (l[n] - (n < kAxes ? trace : 0.0)) * m;
      amount += times * m * m;
    }
  }

 private:
  TESSERA_KERNEL static int row(int n) { return n < kAxes ? n : n == 5 ? 1 : 0; }
  TESSERA_KERNEL static int column(int n) { return n < kAxes ? n : n == 3 ? 1 : 2; }
  TESSERA_KERNEL static double weight(std::int64_t n, std::int64_t reach) {
    return reach == 0 ? 1.0 : n == 0 ? 0.5 : 0.25;
  }
  TESSERA_KERNEL static double amountOf(const double (&s)[6]) {
    return std::sqrt(2.0 * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) +
                     4.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
  }
  TESSERA_KERNEL void take(Index y, double w, double (&fu)[kAxes], double (&fuu)[6], double (&fs)[6],
                           double (&fm)[6]) const {
    double here[6];
    double v[kAxes];
    for (int n = 0; n < 6; ++n) here[n] = s[n](y);
    for (int d = 0; d < kAxes; ++d) v[d] = u[d](y);
    const double strong = amountOf(here);
    for (int d = 0; d < kAxes; ++d) fu[d] += w * v[d];
    for (int n = 0; n < 6; ++n) {
      fuu[n] += w * (v[row(n)] * v[column(n)]);
      fs[n] += w * here[n];
      fm[n] += w * (strong * here[n]);
    }
  }
};

struct DynamicConstant {
  FlowParams params;
  EddyLabels labels;

  template <class Task>
  void operator()(const Task& task) const {
    const auto velocity = task.read(New, labels.velocity);
    const auto strain = task.read(New, labels.strain);
    const auto found = task.write(labels.germano);
    const auto u = velocity[0];
    using Field = std::remove_cvref_t<decltype(u)>;
    GermanoOfCell<Field> germano{{u, u, u}, {u, u, u, u, u, u}, {}, squareOfWidth(task, params)};
    for (int d = 0; d < kAxes; ++d) {
      germano.u[d] = velocity[d];
      if (params.active[static_cast<std::size_t>(d)]) germano.reach[d] = 1;
    }
    for (int n = 0; n < 6; ++n) germano.s[n] = strain[n];
    const auto product = found[0];
    const auto square = found[1];
    const auto fluid = fluidOf(task, params, Old, u);
    forEachHeavy(task.exec(), "Lowmach::germano", task.interior(), [=] TESSERA_KERNEL(Index x) {
      double p = 0.0;
      double q = 0.0;
      germano.at(x, p, q);
      product(x) = fluid(x) * p;
      square(x) = fluid(x) * q;
    });
    contribute(task, params.eddies.product, "Lowmach::product", product);
    contribute(task, params.eddies.square, "Lowmach::square", square);
  }

  /// Over the finest cells of each place, each by its size.
  template <class Task, class Number>
  void contribute(const Task& task, ReductionLabel to, const char* name, const Number& number) const {
    const double size = sizeOfCell(task);
    typename Task::ReducedSum sum;
    task.forEachUncovered([&](const Box& cells) {
      sum.add(
          reduce(task.exec(), name, cells, Sum, [=] TESSERA_KERNEL(Index x) { return size * number(x); }));
    });
    task.contribute(to, sum);
  }
};

[[gnu::weak]] TaskBody viscosityOfEddies(const FlowParams& params, Generation generation,
                                         const FlowState& state) {
  return taskBody<Cpu, Gpu>(ViscosityOfEddies{params, generation, state});
}

[[gnu::weak]] TaskBody strainOfFlow(const FlowParams& params, const FlowState& state,
                                    const EddyLabels& labels) {
  return taskBody<Cpu, Gpu>(StrainOfFlow{params, state, labels});
}

[[gnu::weak]] TaskBody dynamicConstant(const FlowParams& params, const EddyLabels& labels) {
  return taskBody<Cpu, Gpu>(DynamicConstant{params, labels});
}

}  // namespace tessera
