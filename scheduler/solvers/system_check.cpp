#include "scheduler/solvers/system_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exec/exec.hpp"
#include "core/text/error.hpp"
#include "scheduler/solvers/exact_totals.hpp"

namespace tessera {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

/// Whether a cell is an unknown.
bool counts(SystemLevel& level, std::size_t box, Index x) {
  return level.weights.all().empty() || level.weights.field(box)(x) > 0.0;
}

/// Calls `visit(box number, index)` for the cells of own boxes that are unknowns.
template <class Visit>
void forEachUnknown(SystemLevel& level, const Visit& visit) {
  for (std::size_t n = 0; n < level.boxes.own.size(); ++n) {
    detail::forEachInOrder(level.boxes.boxes[level.boxes.own[n]], [&](Index x) {
      if (counts(level, n, x)) visit(n, x);
    });
  }
}

}  // namespace

bool SystemCheck::prepare(const LinearSystem& declared, SolveReport& report) {
  if (auto bad = firstBadNumber(declared.holes.has_value())) {
    report.result = SolveReport::Result::Impossible;
    report.failure = std::move(*bad);
    return false;
  }
  system_.isSingular = declared.mass == 0.0 && !conductsToSides();
  if (system_.isSingular && system_.kind() == MatrixKind::General && !keepsSums(report)) return false;
  system_.scale = std::sqrt(totalOf(system_, &GridSystem::rightHandSide, Summand::Square, transport_));
  return !system_.isSingular || balance(report);
}

/// Whether a side, or a hole, gives a value anywhere.
bool SystemCheck::conductsToSides() {
  double conducts = 0.0;
  for (const auto& level : system_.levels) {
    forEachUnknown(*level, [&](std::size_t n, Index x) {
      conducts = std::max(conducts, level->system.matrix.sink.field(n)(x));
    });
  }
  for (const auto& level : system_.levels) {
    const GridBoxes& grid = level->boxes;
    for (std::size_t n = 0; n < grid.own.size(); ++n) {
      const Box box = grid.boxes[grid.own[n]];
      for (int d = 0; d < kAxes; ++d) {
        const auto axis = static_cast<std::size_t>(d);
        if (!grid.active[axis] || grid.wraps[axis]) continue;
        const auto look = [&](Box cells, Index toFace) {
          const bool isBelow = toFace[d] > 0;
          const Field<double> k = level->system.matrix.ofFaces(axis, isBelow).field(n);
          detail::forEachInOrder(cells, [&](Index x) {
            if (counts(*level, n, x)) conducts = std::max(conducts, k(x + toFace));
          });
        };
        Box side = box;
        side.hi[d] = box.lo[d] + 1;
        if (box.lo[d] == grid.domain.lo[d]) look(side, {});
        side = box;
        side.lo[d] = box.hi[d] - 1;
        if (box.hi[d] == grid.domain.hi[d]) look(side, unit(d));
      }
    }
  }
  return largestOfAll(conducts, transport_) > 0.0;
}

/// A system that maps constants to 0 has a solution where the right-hand side adds up to 0. What it adds up
/// to by the rounding of its integral is taken away.
bool SystemCheck::balance(SolveReport& report) {
  const double amount = totalOf(system_, &GridSystem::rightHandSide, Summand::Amount, transport_);
  const double sum = totalOf(system_, &GridSystem::rightHandSide, Summand::Number, transport_);
  report.imbalance = amount > 0.0 ? std::abs(sum) / amount : 0.0;
  if (report.imbalance > options_.imbalance) {
    report.result = SolveReport::Result::Impossible;
    report.failure =
        Message("a linear system has no solution: no side gives a value, and the sources do not add up to 0")
            .line("solve      ", name_)
            .line("sum        ", sum, " of the right-hand side over all cells, ", report.imbalance,
                  " of the sum of its amounts")
            .line(
                "fix        give a value on one side, or sources that add up to what leaves through the "
                "sides; solver.imbalance (",
                options_.imbalance, ") says how much is taken for rounding")
            .text();
    return false;
  }
  const double mean = sum / volumeOf(system_, transport_);
  for (const auto& level : system_.levels) {
    forEachUnknown(*level, [&](std::size_t n, Index x) { level->system.rightHandSide.field(n)(x) -= mean; });
  }
  return true;
}

/// Without values on sides rows have to add up to 0 by columns too: what flows into each cell flows out. Else
/// it is not the sum of the right-hand side that has to be 0, and we do not know what is.
bool SystemCheck::keepsSums(SolveReport& report) {
  double flow = 0.0;
  double conducts = 0.0;
  double lost = 0.0;
  SystemLevel& level = *system_.levels.front();
  forEachUnknown(level, [&](std::size_t n, Index x) {
    double sum = 0.0;
    for (int d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      const Field<double> above = level.system.matrix.faces[axis].field(n);
      const Field<double> below = level.system.matrix.below[axis].field(n);
      const double in = above(x) - below(x);
      const double out = above(x + unit(d)) - below(x + unit(d));
      flow = std::max({flow, std::abs(in), std::abs(out)});
      conducts = std::max({conducts, above(x), above(x + unit(d))});
      sum += out - in;
    }
    lost = std::max(lost, std::abs(sum));
  });
  // The flow is a difference of numbers that conduction may make much larger.
  const double rounding = 1e-10 * largestOfAll(flow, transport_) + 1e-14 * largestOfAll(conducts, transport_);
  if (largestOfAll(lost, transport_) <= rounding) return true;
  report.result = SolveReport::Result::Impossible;
  report.failure =
      Message("a linear system has no side that gives a value, and its velocity has a divergence")
          .line("solve  ", name_)
          .line("fix    give a value on one side, or a velocity that enters and leaves each cell alike")
          .text();
  return false;
}

std::optional<std::string> SystemCheck::firstBadNumber(bool hasHoles) {
  Place matrix{kNowhere, kNowhere};
  Place source{kNowhere, kNowhere};
  Place alone{kNowhere, kNowhere};
  const auto note = [&](Place& place, const SystemLevel& level, Index x) {
    const Place here{static_cast<double>(level.level.number()), placeOf(level, x)};
    if (here.level < place.level || (here.level == place.level && here.cell < place.cell)) place = here;
  };
  for (const auto& level : system_.levels) {
    forEachUnknown(*level, [&](std::size_t n, Index x) {
      GridSystem& system = level->system;
      const StencilFields A = system.matrix.fields(n);
      bool isGood = std::isfinite(A.diagonal(x));
      isGood = isGood && A.kx(x) >= 0.0 && A.belowX(x + ex) >= 0.0;
      isGood = isGood && A.ky(x) >= 0.0 && A.belowY(x + ey) >= 0.0;
      isGood = isGood && A.kz(x) >= 0.0 && A.belowZ(x + ez) >= 0.0;
      if (!isGood) note(matrix, *level, x);
      if (hasHoles && A.diagonal(x) == 0.0 && system.rightHandSide.field(n)(x) != 0.0) note(alone, *level, x);
      const bool isFinite =
          std::isfinite(system.rightHandSide.field(n)(x)) && std::isfinite(system.solution.field(n)(x));
      if (!isFinite) note(source, *level, x);
    });
  }
  matrix = firstOf(matrix);
  source = firstOf(source);
  alone = firstOf(alone);
  if (matrix.cell == kNowhere && source.cell == kNowhere) {
    if (alone.cell == kNowhere) return std::nullopt;
    return Message(
               "a linear system has an unknown in a cell that solid cells shut in, where nothing balances "
               "its source")
        .line("solve    ", name_)
        .line("cell     ", cellAt(alone))
        .line("fix      ", "make the cell solid too, or its source 0")
        .text();
  }
  const bool ofMatrix = matrix.cell != kNowhere;
  return Message(ofMatrix ? "the matrix of a linear system has an entry that is not a number, or a "
                            "coefficient below 0"
                          : "the right-hand side of a linear system, or the value that its solution begins "
                            "with, is not a number")
      .line("solve    ", name_)
      .line("cell     ", cellAt(ofMatrix ? matrix : source))
      .line("fix      ", ofMatrix ? "give coefficients that are finite and not below 0 everywhere"
                                  : "give sources, conditions and initial values that are finite everywhere")
      .text();
}

std::string SystemCheck::notConverged(const SolveReport& report) {
  double largest = 0.0;
  for (const auto& level : system_.levels) {
    forEachUnknown(*level, [&](std::size_t n, Index x) {
      largest = std::max(largest, std::abs(level->system.rightHandSide.field(n)(x)));
    });
  }
  largest = largestOfAll(largest, transport_);
  Place worst{kNowhere, kNowhere};
  for (const auto& level : system_.levels) {
    forEachUnknown(*level, [&](std::size_t n, Index x) {
      const auto number = static_cast<double>(level->level.number());
      if (std::abs(level->system.rightHandSide.field(n)(x)) != largest || worst.level < number) return;
      worst = {number, std::min(worst.cell, placeOf(*level, x))};
    });
  }
  worst = firstOf(worst);
  Message message("a linear solve does not come to its tolerance");
  if (system_.levels.size() == 1) {
    message.line("solve       ", name_, ", level 0");
  } else {
    message.line("solve       ", name_, ", levels 0 to ", system_.levels.size() - 1);
  }
  message.line("iterations  ", report.iterations, " of at most ", options_.maxIterations)
      .line("residual    ", report.residual, " of the right-hand side, asked for: ", options_.tolerance);
  if (worst.cell != kNowhere) message.line("worst cell  ", cellAt(worst), ", residual ", largest);
  return message
      .line("fix         allow more with solver.max_iterations, or ask for less with solver.tolerance")
      .text();
}

double SystemCheck::placeOf(const SystemLevel& level, Index x) const {
  const Extent n = level.boxes.domain.extent();
  return static_cast<double>((x.k * n.j + x.j) * n.i + x.i);
}

/// The first of all ranks', by level and then by place.
SystemCheck::Place SystemCheck::firstOf(Place own) {
  const double level = leastOf(own.level, transport_);
  return {level, leastOf(own.level == level ? own.cell : kNowhere, transport_)};
}

std::string SystemCheck::cellAt(Place place) const {
  const Extent n = system_.levels[static_cast<std::size_t>(place.level)]->boxes.domain.extent();
  const auto at = static_cast<std::int64_t>(place.cell);
  return asText(Index{at % n.i, at / n.i % n.j, at / (n.i * n.j)}) + " of level " +
         std::to_string(static_cast<int>(place.level));
}

}  // namespace tessera
