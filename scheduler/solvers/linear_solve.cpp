#include "scheduler/solvers/linear_solve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/exec/exec.hpp"
#include "core/text/error.hpp"
#include "scheduler/solvers/exact_totals.hpp"

namespace tessera {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

double secondsSinceStart(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LinearSolve::LinearSolve(std::string name, const SolverOptions& options, const Hierarchy& hierarchy,
                         const RankMap& owners, Transport& transport)
    : name_(std::move(name)),
      options_(options),
      level_(hierarchy.level(0)),
      transport_(transport),
      boxes_(gridBoxes(level_, owners, transport.rank())),
      assembled_(boxes_),
      layers_(boxes_, LayerPart::WithSides, transport),
      solver_(makeLinearSolver(options, boxes_, level_.spacing(), transport)) {}

SolveReport LinearSolve::run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  system_ = system;
  const auto start = std::chrono::steady_clock::now();
  SolveReport report;
  assemble(system_, level_, data, moment, assembled_);
  layers_.fill(assembled_.matrix.sink);
  for (CellNumbers& faces : assembled_.matrix.faces) layers_.fill(faces);
  if (check(report)) {
    if (assembled_.scale == 0.0) {
      // Without sources and values on sides the solution is 0, whatever it was before.
      for (double& u : assembled_.solution.all()) u = 0.0;
    } else {
      solver_->solve(assembled_, report);
    }
    if (report.result != SolveReport::Result::Converged) report.failure = notConverged(report);
    if (assembled_.isSingular) fixMean();
    storeSolution(system_, level_, data, assembled_);
  }
  report.seconds = secondsSinceStart(start);
  return report;
}

bool LinearSolve::check(SolveReport& report) {
  const auto impossible = [&](std::string why) {
    report.result = SolveReport::Result::Impossible;
    report.failure = std::move(why);
    return false;
  };
  if (const auto bad = firstBadNumber()) return impossible(*bad);
  double conducts = 0.0;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Box box = boxes_.boxes[boxes_.own[n]];
    for (int d = 0; d < kAxes; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      if (!boxes_.active[axis] || boxes_.wraps[axis]) continue;
      const Field<double> k = assembled_.matrix.faces[axis].field(n);
      Box low = box;
      low.hi[d] = std::min(box.hi[d], box.lo[d] == boxes_.domain.lo[d] ? box.lo[d] + 1 : box.lo[d]);
      Box high = boxes_.withSides(box);
      high.lo[d] = box.hi[d];
      for (const Box& side : {low, high})
        conducts = std::max(conducts, reduce(Cpu{}, "side", side, Max, [=](Index x) { return k(x); }));
    }
  }
  assembled_.isSingular = system_.mass == 0.0 && largestOfAll(conducts, transport_) == 0.0;
  assembled_.scale = std::sqrt(dotOf(boxes_, assembled_.rightHandSide, assembled_.rightHandSide, transport_));
  return !assembled_.isSingular || balance(report);
}

/// A system that maps constants to 0 has a solution where the right-hand side adds up to 0. What it adds up
/// to by the rounding of its integral is taken away.
bool LinearSolve::balance(SolveReport& report) {
  ExactSum amounts;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Field<double> f = assembled_.rightHandSide.field(n);
    amounts.add(reduce(Cpu{}, "amount", boxes_.boxes[boxes_.own[n]], Sum,
                       [=](Index x) { return f(x) < 0.0 ? -f(x) : f(x); }));
  }
  const double amount = totalOf(amounts, transport_);
  const double sum = sumOf(boxes_, assembled_.rightHandSide, transport_);
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
  const double mean = sum / static_cast<double>(boxes_.cells());
  for (std::size_t n = 0; n < boxes_.own.size(); ++n)
    addConstant(Cpu{}, boxes_.boxes[boxes_.own[n]], -mean, assembled_.rightHandSide.field(n));
  return true;
}

void LinearSolve::fixMean() {
  const double mean = sumOf(boxes_, assembled_.solution, transport_) / static_cast<double>(boxes_.cells());
  for (std::size_t n = 0; n < boxes_.own.size(); ++n)
    addConstant(Cpu{}, boxes_.boxes[boxes_.own[n]], system_.mean - mean, assembled_.solution.field(n));
}

std::optional<std::string> LinearSolve::firstBadNumber() {
  double matrix = kNowhere;
  double source = kNowhere;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const StencilFields A = assembled_.matrix.fields(n);
    const Field<double> f = assembled_.rightHandSide.field(n);
    const Field<double> u = assembled_.solution.field(n);
    detail::forEachInOrder(boxes_.boxes[boxes_.own[n]], [&](Index x) {
      bool isGood = std::isfinite(A.diagonal(x));
      for (const Index& face : {x, x + ex}) isGood = isGood && A.kx(face) >= 0.0;
      for (const Index& face : {x, x + ey}) isGood = isGood && A.ky(face) >= 0.0;
      for (const Index& face : {x, x + ez}) isGood = isGood && A.kz(face) >= 0.0;
      if (!isGood) matrix = std::min(matrix, placeOf(x));
      if (!std::isfinite(f(x)) || !std::isfinite(u(x))) source = std::min(source, placeOf(x));
    });
  }
  matrix = leastOf(matrix, transport_);
  source = leastOf(source, transport_);
  if (matrix == kNowhere && source == kNowhere) return std::nullopt;
  const bool ofMatrix = matrix != kNowhere;
  return Message(ofMatrix ? "the matrix of a linear system has an entry that is not a number, or a "
                            "coefficient below 0"
                          : "the right-hand side of a linear system, or the value that its solution begins "
                            "with, is not a number")
      .line("solve    ", name_)
      .line("cell     ", cellAt(ofMatrix ? matrix : source), " of level 0")
      .line("fix      ", ofMatrix ? "give coefficients that are finite and not below 0 everywhere"
                                  : "give sources, conditions and initial values that are finite everywhere")
      .text();
}

std::string LinearSolve::notConverged(const SolveReport& report) {
  double largest = 0.0;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Field<double> r = assembled_.rightHandSide.field(n);
    largest = std::max(largest, reduce(Cpu{}, "worst", boxes_.boxes[boxes_.own[n]], Max,
                                       [=](Index x) { return r(x) < 0.0 ? -r(x) : r(x); }));
  }
  largest = largestOfAll(largest, transport_);
  double worst = kNowhere;
  for (std::size_t n = 0; n < boxes_.own.size(); ++n) {
    const Field<double> r = assembled_.rightHandSide.field(n);
    detail::forEachInOrder(boxes_.boxes[boxes_.own[n]], [&](Index x) {
      if (std::abs(r(x)) == largest) worst = std::min(worst, placeOf(x));
    });
  }
  worst = leastOf(worst, transport_);
  Message message("a linear solve does not come to its tolerance");
  message.line("solve       ", name_, ", level 0")
      .line("iterations  ", report.iterations, " of at most ", options_.maxIterations)
      .line("residual    ", report.residual, " of the right-hand side, asked for: ", options_.tolerance);
  if (worst != kNowhere) message.line("worst cell  ", cellAt(worst), ", residual ", largest);
  return message
      .line("fix         allow more with solver.max_iterations, or ask for less with solver.tolerance")
      .text();
}

double LinearSolve::placeOf(Index x) const {
  const Extent n = boxes_.domain.extent();
  return static_cast<double>((x.k * n.j + x.j) * n.i + x.i);
}

std::string LinearSolve::cellAt(double place) const {
  const Extent n = boxes_.domain.extent();
  const auto at = static_cast<std::int64_t>(place);
  return asText(Index{at % n.i, at / n.i % n.j, at / (n.i * n.j)});
}

}  // namespace tessera
