#include "scheduler/solvers/system_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/error.hpp"
#include "scheduler/solvers/exact_totals.hpp"

namespace tessera {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

/// Calls `visit(box number, box, its unknowns)` for own boxes.
template <class Visit>
void forEachBox(const SystemLevel& level, const Visit& visit) {
  for (std::size_t n = 0; n < level.boxes.own.size(); ++n)
    visit(n, level.boxes.boxes[level.boxes.own[n]], level.unknowns(n));
}

}  // namespace

bool SystemCheck::prepare(const LinearSystem& declared, SolveReport& report) {
  const bool isOnLevels = system_.levels.size() > 1;
  if (auto bad = firstBadNumber(isOnLevels || declared.holes.has_value())) {
    report.result = SolveReport::Result::Impossible;
    report.failure = std::move(*bad);
    return false;
  }
  system_.isSingular = declared.mass == 0.0 && !conductsToSides();
  // Only a mean asks which rows of one level have no entries, where nobody has said so.
  if (system_.isSingular && system_.levels.front()->weights.isEmpty()) noteHoles();
  if (system_.isSingular && system_.kind() == MatrixKind::General && !keepsSums(report)) return false;
  system_.scale = std::sqrt(totalOf(system_, &GridSystem::rightHandSide, Summand::Square, transport_));
  return !system_.isSingular || balance(declared.addsUpToNothing, report);
}

/// Whether a side, or a hole, gives a value anywhere.
bool SystemCheck::conductsToSides() {
  Largest conducts(device_, 0.0);
  for (const auto& level : system_.levels) {
    forEachBox(*level, [&](std::size_t n, const Box& box, const Unknowns& unknowns) {
      conducts.add(box, NumberBeside{unknowns, level->system.matrix.sink.reads(n), {}});
      addSides(*level, n, unknowns, conducts);
    });
  }
  return largestOfAll(conducts.value(), transport_) > 0.0;
}

void SystemCheck::addSides(SystemLevel& level, std::size_t n, const Unknowns& unknowns, Largest& conducts) {
  const GridBoxes& grid = level.boxes;
  const Box& box = grid.boxes[grid.own[n]];
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    if (!grid.active[axis] || grid.wraps[axis]) continue;
    const auto look = [&](const Box& cells, Index toFace) {
      const CellNumbers& k = level.system.matrix.ofFaces(axis, toFace[d] > 0);
      conducts.add(cells, NumberBeside{unknowns, k.reads(n), toFace});
    };
    Box side = box;
    side.hi[d] = box.lo[d] + 1;
    if (box.lo[d] == grid.domain.lo[d]) look(side, {});
    side = box;
    side.lo[d] = box.hi[d] - 1;
    if (box.hi[d] == grid.domain.hi[d]) look(side, unit(d));
  }
}

/// A system that maps constants to 0 has a solution where the right-hand side adds up to 0. What it adds up
/// to by the rounding of its integral is taken away.
bool SystemCheck::balance(bool isRounding, SolveReport& report) {
  const double amount = totalOf(system_, &GridSystem::rightHandSide, Summand::Amount, transport_);
  const double sum = totalOf(system_, &GridSystem::rightHandSide, Summand::Number, transport_);
  report.imbalance = amount > 0.0 && !isRounding ? std::abs(sum) / amount : 0.0;
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
  changeUnknowns(system_, &GridSystem::rightHandSide, 1.0, -sum / volumeOf(system_, transport_));
  return true;
}

/// Without values on sides rows have to add up to 0 by columns too: what flows into each cell flows out. Else
/// it is not the sum of the right-hand side that has to be 0, and we do not know what is.
bool SystemCheck::keepsSums(SolveReport& report) {
  SystemLevel& level = *system_.levels.front();
  const auto largest = [&](FlowOfCell::What what) {
    Largest number(device_, 0.0);
    forEachBox(level, [&](std::size_t n, const Box& box, const Unknowns& unknowns) {
      number.add(box, FlowOfCell{unknowns, level.system.matrix.fields(n), what});
    });
    return number.value();
  };
  const double flow = largest(FlowOfCell::Carried);
  const double conducts = largest(FlowOfCell::Conducted);
  const double lost = largest(FlowOfCell::Lost);
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

void SystemCheck::noteHoles() {
  SystemLevel& level = *system_.levels.front();
  Largest isHole(device_, 0.0);
  forEachBox(level, [&](std::size_t n, const Box& box, const Unknowns&) {
    isHole.add(box, IsHole{level.system.matrix.fields(n), level.system.rightHandSide.reads(n)});
  });
  if (largestOfAll(isHole.value(), transport_) > 0.0) leaveOutHoles(system_);
}

std::optional<std::string> SystemCheck::firstBadNumber(bool hasHoles) {
  const Place matrix = firstWhere([](SystemLevel& level, std::size_t n, const Unknowns& unknowns) {
    return BadMatrix{unknowns, level.system.matrix.fields(n)};
  });
  const Place source = firstWhere([](SystemLevel& level, std::size_t n, const Unknowns& unknowns) {
    return BadSource{unknowns, level.system.rightHandSide.reads(n), level.system.solution.reads(n)};
  });
  const auto shutIn = [](SystemLevel& level, std::size_t n, const Unknowns& unknowns) {
    return ShutIn{unknowns, level.system.matrix.fields(n), level.system.rightHandSide.reads(n)};
  };
  const Place alone = hasHoles ? firstWhere(shutIn) : Place{kNowhere, kNowhere};
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
  Largest most(device_, 0.0);
  for (const auto& level : system_.levels) {
    forEachBox(*level, [&](std::size_t n, const Box& box, const Unknowns& unknowns) {
      most.add(box, AmountInSystem{unknowns, level->system.rightHandSide.reads(n)});
    });
  }
  const double largest = largestOfAll(most.value(), transport_);
  const Place worst = firstWhere([&](SystemLevel& level, std::size_t n, const Unknowns& unknowns) {
    return HasAmount{unknowns, level.system.rightHandSide.reads(n), largest};
  });
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

/// The first cell of all ranks', by level and then by place, where a kernel gives its place.
template <class KernelOf>
SystemCheck::Place SystemCheck::firstWhere(const KernelOf& kernelOf) {
  Place own{kNowhere, kNowhere};
  for (const auto& level : system_.levels) {
    Least place(device_, kNowhere);
    forEachBox(*level, [&](std::size_t n, const Box& box, const Unknowns& unknowns) {
      place.add(box, kernelOf(*level, n, unknowns));
    });
    const double cell = place.value();
    if (cell < kNowhere && own.cell == kNowhere) own = {static_cast<double>(level->level.number()), cell};
  }
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
