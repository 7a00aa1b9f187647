#include "scheduler/solvers/linear_solve.hpp"

#include <chrono>

#include "core/text/error.hpp"
#include "scheduler/solvers/system_check.hpp"

namespace tessera {
namespace {

double secondsSinceStart(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

SolverSystem systemOn(const Hierarchy& hierarchy, const RankMap& owners, MatrixKind kind,
                      Transport& transport, SolverDevice* device) {
  SolverSystem system;
  for (const Level& level : hierarchy.levels())
    system.levels.push_back(std::make_unique<SystemLevel>(level, owners, transport, kind, device));
  return system;
}

bool isForDevices(const SolverOptions& options, const Hierarchy& hierarchy) {
  return options.library == SolverLibrary::Own && hierarchy.levels().size() == 1;
}

void requireOneLevel(const std::string& name, const LinearSystem& system, const Hierarchy& hierarchy) {
  if (hierarchy.levels().size() == 1 || !(system.flow || system.holes)) return;
  throw DeckError(Message(system.flow ? "a linear system with a velocity is solved on one level only"
                                      : "a linear system with solid cells is solved on one level only")
                      .line("solve   ", name)
                      .line("levels  ", hierarchy.levels().size())
                      .line("fix     remove [[grid.level]] and [amr]")
                      .text());
}

}  // namespace

bool LinearSolve::mayUse(const DeviceAccess& device, const SolverOptions& options, const Hierarchy& hierarchy,
                         const RankMap& owners, Rank rank) {
  if (!isForDevices(options, hierarchy)) return false;
  // With matrix and set-up, of which there are two, and a half more on all coarser levels together.
  constexpr std::int64_t kNumbersOfCell = 48;
  const GridBoxes grid = gridBoxes(hierarchy.level(0), owners, rank);
  std::int64_t cells = 0;
  for (const std::size_t n : grid.own) cells += grow(grid.boxes[n], grid.layer()).volume();
  const std::int64_t bytes = kNumbersOfCell * cells * static_cast<std::int64_t>(sizeof(double));
  return bytes <= device.values.limitBytes() - device.values.use().reserved;
}

LinearSolve::LinearSolve(std::string name, const LinearSystem& system, const SolverOptions& options,
                         const Hierarchy& hierarchy, const RankMap& owners, Transport& transport,
                         const DeviceAccess* device)
    : name_(std::move(name)),
      options_(options),
      transport_(transport),
      device_(device != nullptr && isForDevices(options, hierarchy) ? std::make_unique<SolverDevice>(*device)
                                                                    : nullptr),
      assembled_(systemOn(hierarchy, owners, system.flow ? MatrixKind::General : MatrixKind::Symmetric,
                          transport, device_.get())) {
  requireOneLevel(name_, system, hierarchy);
  solver_ = makeLinearSolver(options, assembled_, transport);
  if (system.holes) holes_ = std::make_unique<Holes>(assembled_.levels.front()->boxes, transport);
  for (const auto& level : assembled_.levels)
    layers_.emplace_back(level->boxes, LayerPart::WithSides, transport);
}

SolveReport LinearSolve::run(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  const auto start = std::chrono::steady_clock::now();
  SolveReport report;
  const DeviceTraffic before = device_ ? device_->traffic() : DeviceTraffic{};
  if (device_) device_->begin(SolverDevice::Section::Assembly);
  assembleAll(system, data, moment);
  SystemCheck check(name_, options_, assembled_, transport_);
  if (check.prepare(system, report)) {
    if (assembled_.scale == 0.0) {
      // Without sources and values on sides the solution is 0, whatever it was before.
      changeSolution(0.0, 0.0);
    } else {
      solver_->solve(assembled_, report);
    }
    if (device_) device_->begin(SolverDevice::Section::End);
    if (report.result != SolveReport::Result::Converged) report.failure = check.notConverged(report);
    if (assembled_.isSingular) fixMean(system.mean);
    for (const auto& level : assembled_.levels) {
      if (level->patches) level->patches->take(level->system);
      storeSolution(system, level->level, data, level->onPatches());
    }
  }
  if (device_) {
    device_->run();
    report.device = {device_->traffic().bytes - before.bytes, device_->traffic().waits - before.waits};
  }
  report.seconds = secondsSinceStart(start);
  return report;
}

void LinearSolve::assembleAll(const LinearSystem& system, DataWarehouse& data, const SystemMoment& moment) {
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    SystemLevel& level = *assembled_.levels[n];
    assemble(system, level.level, data, moment, level.onPatches(), sides_);
    if (level.patches) level.patches->give(level.system);
    if (holes_) {
      assemble(system.holes->open, Generation::New, level.level, data, level.boxes, holes_->open());
      holes_->cut(system.holes->faces, level);
    }
    level.system.matrix.forEachNumbers([&](CellNumbers& numbers) { layers_[n].fill(numbers); });
  }
  if (!holes_ && !assembled_.levels.front()->weights.isEmpty()) leaveOutHoles(assembled_);
}

void LinearSolve::changeSolution(double factor, double a) {
  changeUnknowns(assembled_, &GridSystem::solution, factor, a);
  auto& levels = assembled_.levels;
  for (std::size_t n = levels.size() - 1; n > 0; --n)
    assembled_.below(n).averageDown(levels[n]->system.solution, levels[n - 1]->system.solution);
}

/// Of all unknowns, by volume: cells under finer ones and holes do not count.
void LinearSolve::fixMean(double mean) {
  const double now = totalOf(assembled_, &GridSystem::solution, Summand::Number, transport_) /
                     volumeOf(assembled_, transport_);
  changeSolution(1.0, mean - now);
}

}  // namespace tessera
