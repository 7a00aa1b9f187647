// What a Poisson solve takes to a residual of 1e-8: our own multigrid beside PFMG with conjugate gradients of
// hypre, where the build has it, by way of our layer and called by a program that does nothing else, on the
// same matrix in the same boxes.
//
//   mpiexec -n R tessera_solve_bench [cells [--own] [--lines] [--device cuda|emulated]]
//
// --own: our own alone, of more runs; for a comparison of two builds.
// --device: our own alone, on the first device of each rank: milliseconds of the clock in place of CPU
// seconds, and what part of them the memory of the device would take for the numbers that have to be moved.
//
// For constant and for varying coefficients, from one patch to 4 along each axis and rank (64 a rank):
// CPU seconds of the set-up and a solve, of a solve that has it already, and iterations. All three take
// turns; of each the least of some runs, of the slowest rank, waiting included.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/exec/exec.hpp"
#include "core/text/error.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "grid/hierarchy.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/device/backend/emulated_device.hpp"
#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/layer_exchange.hpp"
#include "scheduler/solvers/linear_solver.hpp"
#include "tools/bench/cpu_clock.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/solve/bare_hypre.hpp"

namespace tessera::bench {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kRuns = 3;
constexpr std::int64_t kMostIterations = 100;

struct SolveTimes {
  double withSetup = std::numeric_limits<double>::infinity();
  double kept = std::numeric_limits<double>::infinity();
  std::int64_t iterations = 0;
  std::int64_t bytesToAndFro = 0;  ///< between host and device, in a solve with a set-up that is kept
};

/// A cube with u = 0 on all sides, a source of many waves, and a coefficient of 1 or of 1 to 3.
class SolveCase {
 public:
  SolveCase(std::int64_t cells, Extent patches, bool varies, Transport& transport,
            SolverDevice* device = nullptr)
      : transport_(transport), cells_(cells), varies_(varies), device_(device) {
    hierarchy_ = Hierarchy::uniform({{}, {1.0, 1.0, 1.0}, {cells, cells, cells}, {}},
                                    {Division::By::Patches, patches});
    const RankMap owners = distribute(*hierarchy_, transport.size());
    const auto add = [&](SolverSystem& to, SolverDevice* on) {
      to.levels.push_back(
          std::make_unique<SystemLevel>(hierarchy_->level(0), owners, transport, MatrixKind::Symmetric, on));
    };
    add(system_, nullptr);
    if (device_ != nullptr) add(there_, device_);
  }

  /// On the device: seconds of the clock, of the slowest rank.
  SolveTimes runOnDevice() {
    SolveTimes times;
    SolverOptions options;
    options.tolerance = kTolerance;
    const auto solver = makeLinearSolver(options, there_, transport_);
    for (int run = 0; run < 2 + kRuns; ++run) {
      fill();
      giveToDevice();
      transport_.barrier();
      const auto start = std::chrono::steady_clock::now();
      const DeviceTraffic before = device_->traffic();
      SolveReport report;
      solver->solve(there_, report);
      if (report.result != SolveReport::Result::Converged) throw InternalError("a solve did not converge");
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      const double seconds = largestOfAll(spent.count(), transport_);
      times.iterations = report.iterations;
      times.bytesToAndFro = device_->traffic().bytes - before.bytes;
      (run == 0 ? times.withSetup : times.kept) = std::min(run == 0 ? times.withSetup : times.kept, seconds);
    }
    return times;
  }

  /// Bytes of one iteration that have to go between memory and processors, if a loop keeps nothing for the
  /// next one: numbers of each level's cells, in a cycle and, on the finest level, around it.
  double bytesOfIteration() const {
    const double ofMatrix = varies_ ? 4.0 : 0.0;
    const double sweeps = 3.0 + 7.0 * (4.0 + ofMatrix);
    const double between = (3.0 + ofMatrix) + 1.125 + 2.125;
    const double around = 2.0 + 3.0 + (2.0 + ofMatrix) + 2.0 + 6.0 + 1.0;
    const auto cells = static_cast<double>(cells_ * cells_ * cells_);
    return sizeof(double) * cells * (8.0 / 7.0 * (sweeps + between) + around);
  }

  /// By contender; those of hypre where the build has it.
  std::map<std::string, SolveTimes> run(bool onlyOwn) {
    std::map<std::string, SolveTimes> times;
    for (int run = 0; run < (onlyOwn ? 2 : 1) * kRuns; ++run) {
      runOurs(SolverLibrary::Own, times["own"]);
      if (onlyOwn || !hasHypre()) continue;
      runOurs(SolverLibrary::Hypre, times["hypre"]);
      runBare(times["bare"]);
    }
    return times;
  }

 private:
  void runOurs(SolverLibrary library, SolveTimes& times) {
    SolverOptions options;
    options.library = library;
    options.tolerance = kTolerance;
    const auto solver = makeLinearSolver(options, system_, transport_);
    const auto solve = [&] {
      SolveReport report;
      solver->solve(system_, report);
      if (report.result != SolveReport::Result::Converged) throw InternalError("a solve did not converge");
      times.iterations = report.iterations;
    };
    fill();
    times.withSetup = std::min(times.withSetup, secondsOf(solve));
    fill();
    times.kept = std::min(times.kept, secondsOf(solve));
  }

  void runBare(SolveTimes& times) {
    fill();
    BareHypre bare(parts());
    const auto solve = [&] { times.iterations = bare.solve(kTolerance, kMostIterations); };
    times.withSetup = std::min(times.withSetup, secondsOf([&] {
                                 bare.setUp();
                                 solve();
                               }));
    times.kept = std::min(times.kept, secondsOf(solve));
  }

  void giveToDevice() {
    SystemLevel& from = *system_.levels.front();
    SystemLevel& to = *there_.levels.front();
    const auto give = [&](CellNumbers& here, CellNumbers& there) {
      if (here.onHost().empty()) return;
      const SolverDevice::Numbers pinned = device_->allocatePinned(here.onHost().size());
      std::copy(here.onHost().begin(), here.onHost().end(), pinned.get());
      device_->copyToDevice(there.data(0), pinned.get(), here.onHost().size());
      device_->wait();
    };
    give(from.system.matrix.sink, to.system.matrix.sink);
    for (std::size_t axis = 0; axis < kAxes; ++axis)
      give(from.system.matrix.faces[axis], to.system.matrix.faces[axis]);
    give(from.system.rightHandSide, to.system.rightHandSide);
    give(from.system.solution, to.system.solution);
    there_.scale = system_.scale;
  }

  double secondsOf(const std::function<void()>& work) {
    transport_.barrier();
    const CpuClock clock;
    const double start = clock.seconds();
    work();
    return largestOfAll(clock.seconds() - start, transport_);
  }

  /// The system as hypre takes it.
  std::vector<BareHypre::Part> parts() {
    SystemLevel& level = *system_.levels.front();
    std::vector<BareHypre::Part> parts;
    for (std::size_t b = 0; b < level.boxes.own.size(); ++b) {
      BareHypre::Part part{level.boxes.boxes[level.boxes.own[b]], {}, {}, {}};
      const StencilFields A = level.system.matrix.fields(b);
      const Field<double> f = level.system.rightHandSide.field(b);
      detail::forEachInOrder(part.cells, [&](Index x) {
        part.matrix.push_back(A.diagonal(x));
        const std::array below{A.kx(x), A.ky(x), A.kz(x)};
        const std::array above{A.belowX(x + ex), A.belowY(x + ey), A.belowZ(x + ez)};
        for (int d = 0; d < kAxes; ++d) {
          const auto axis = static_cast<std::size_t>(d);
          part.matrix.push_back(x[d] > 0 ? -below[axis] : 0.0);
          part.matrix.push_back(x[d] + 1 < cells_ ? -above[axis] : 0.0);
        }
        part.rightHandSide.push_back(f(x));
        part.solution.push_back(0.0);
      });
      parts.push_back(std::move(part));
    }
    return parts;
  }

  /// Of a face or a cell, by its index.
  double coefficient(Index x) const {
    if (!varies_) return 1.0;
    const double h = 1.0 / static_cast<double>(cells_);
    return 2.0 +
           std::sin(9.0 * h * static_cast<double>(x.i)) * std::cos(7.0 * h * static_cast<double>(x.j + x.k));
  }

  void fill() {
    SystemLevel& level = *system_.levels.front();
    const auto n = static_cast<double>(cells_);
    for (std::size_t b = 0; b < level.boxes.own.size(); ++b) {
      const Box& box = level.boxes.boxes[level.boxes.own[b]];
      for (int d = 0; d < kAxes; ++d) {
        const Field<double> k = level.system.matrix.faces[static_cast<std::size_t>(d)].field(b);
        Box faces = box;
        ++faces.hi[d];
        detail::forEachInOrder(faces, [&](Index x) {
          const bool isSide = x[d] == 0 || x[d] == cells_;
          k(x) = (isSide ? 2.0 : 1.0) * n * n * coefficient(x);
        });
      }
      const Field<double> f = level.system.rightHandSide.field(b);
      const Field<double> u = level.system.solution.field(b);
      detail::forEachInOrder(box, [&](Index x) {
        f(x) = std::sin(0.37 * static_cast<double>(x.i)) + static_cast<double>((x.j * 7 + x.k * 3) % 5) - 2.0;
        u(x) = 0.0;
      });
    }
    LayerExchange layers(level.boxes, LayerPart::WithSides, transport_);
    level.system.matrix.forEachNumbers([&](CellNumbers& numbers) { layers.fill(numbers); });
    system_.scale = std::sqrt(totalOf(system_, &GridSystem::rightHandSide, Summand::Square, transport_));
  }

  Transport& transport_;
  const std::int64_t cells_;
  const bool varies_;
  std::shared_ptr<const Hierarchy> hierarchy_;
  SolverDevice* const device_;
  SolverSystem system_;
  SolverSystem there_;  ///< the same one on a device
};

void printRow(const FigureLines& lines, const std::string& name, const SolveTimes& times) {
  std::fprintf(lines.table(), "%-34s %9.3f %9.3f %6d\n", name.c_str(), times.withSetup, times.kept,
               static_cast<int>(times.iterations));
  std::fflush(lines.table());
}

void runCases(std::int64_t cells, bool onlyOwn, const FigureLines& lines, Transport& transport) {
  const bool prints = transport.rank() == 0;
  const int ranks = transport.size();
  if (prints) {
    std::fprintf(lines.table(), "%d^3 cells, %d rank(s), to %g%21s %9s %6s\n", static_cast<int>(cells), ranks,
                 kTolerance, "with set-up", "kept", "its");
  }
  for (const bool varies : {false, true}) {
    for (const std::int64_t along : {1, 2, 4}) {
      SolveCase one(cells, {along, along, along * ranks}, varies, transport);
      const std::string name =
          std::string(varies ? "varying" : "constant") + "_patches_" + std::to_string(along * along * along);
      std::map<std::string, SolveTimes> times = one.run(onlyOwn);
      if (!prints) continue;
      for (const auto& [who, spent] : times) printRow(lines, name + "_" + who, spent);
      if (onlyOwn || !hasHypre()) continue;
      const SolveTimes hypre = times["hypre"];
      const char* target = varies ? ">=1" : ">=1.5";
      lines.add("solve_" + name, hypre.withSetup / times["own"].withSetup, "times_hypre", target);
      lines.add("solve_kept_" + name, hypre.kept / times["own"].kept, "times_hypre", target);
      lines.add("layer_" + name, hypre.withSetup / times["bare"].withSetup, "times_bare", "<=1.05");
      lines.add("layer_kept_" + name, hypre.kept / times["bare"].kept, "times_bare", "<=1.05");
    }
  }
}

/// A device and its memory, as a step runner has them.
struct BenchDevice {
  static constexpr std::int64_t kPinnedBytes = std::int64_t{16} << 30;

  BenchDevice(const std::string& kind, int rank)
      : backend(make(kind, rank)),
        values(*backend, {DeviceSpace::Device, backend->info().memoryBytes / 10 * 9}),
        tables(*backend, {DeviceSpace::Device, std::int64_t{1} << 30}),
        pinned(*backend, {DeviceSpace::PinnedHost, kPinnedBytes}) {}

  static std::unique_ptr<DeviceBackend> make(const std::string& kind, int rank) {
    if (kind == "cuda")
      return makeCudaDevice(static_cast<std::int32_t>(rank % std::max(1, cudaDeviceCount())));
    if (kind != "emulated") throw UsageError("give --device cuda or emulated");
    EmulatedOptions options;
    options.longestDelay = {};
    options.memoryBytes = kPinnedBytes;
    return makeEmulatedDevice(options);
  }
  DeviceAccess access() {
    return {*backend, values, tables, pinned, [](std::int32_t) -> const DeviceStore& {
              throw InternalError("a bench of solvers has no variables");
            }};
  }

  std::unique_ptr<DeviceBackend> backend;
  DevicePool values, tables, pinned;
};

void runOnDevice(std::int64_t cells, const std::string& kind, const FigureLines& lines,
                 Transport& transport) {
  BenchDevice device(kind, transport.rank());
  const int ranks = transport.size();
  if (transport.rank() == 0) {
    std::fprintf(lines.table(), "%d^3 cells, %d rank(s), %s, to %g\n%-30s %12s %9s %5s %9s %7s %12s\n",
                 static_cast<int>(cells), ranks, device.backend->info().name.c_str(), kTolerance, "ms",
                 "with set-up", "kept", "its", "each", "GB/s", "bytes to/fro");
  }
  for (const bool varies : {false, true}) {
    for (const std::int64_t along : {1, 2}) {
      SolverDevice solver(device.access());
      SolveCase one(cells, {along, along, along * ranks}, varies, transport, &solver);
      const SolveTimes times = one.runOnDevice();
      if (transport.rank() != 0) continue;
      const double each = times.kept / static_cast<double>(times.iterations);
      const std::string name =
          std::string(varies ? "varying" : "constant") + "_patches_" + std::to_string(along * along * along);
      std::fprintf(lines.table(), "%-30s %12.3f %9.3f %5d %9.3f %7.0f %12.4g\n", name.c_str(),
                   1e3 * times.withSetup, 1e3 * times.kept, static_cast<int>(times.iterations), 1e3 * each,
                   one.bytesOfIteration() / each / 1e9, static_cast<double>(times.bytesToAndFro));
      std::fflush(lines.table());
      lines.add("solve_device_" + name, 1e3 * times.kept, "ms", cells == 256 && !varies ? "<=50" : "-");
    }
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  bool lines = false;
  bool onlyOwn = false;
  std::string device;
  std::int64_t cells = 128;
  for (int n = 1; n < argc; ++n) {
    if (std::strcmp(argv[n], "--lines") == 0) {
      lines = true;
    } else if (std::strcmp(argv[n], "--own") == 0) {
      onlyOwn = true;
    } else if (std::strcmp(argv[n], "--device") == 0 && n + 1 < argc) {
      device = argv[++n];
    } else {
      cells = std::atoll(argv[n]);
    }
  }
  if (cells < 8 || cells > 1024) {
    std::cerr << "usage: tessera_solve_bench [cells, 8 to 1024 [--own] [--lines] [--device cuda|emulated]]\n";
    return 2;
  }
  const MpiSession mpi;
  MpiTransport transport;
  try {
    if (device.empty())
      bench::runCases(cells, onlyOwn, bench::FigureLines(lines), transport);
    else
      bench::runOnDevice(cells, device, bench::FigureLines(lines), transport);
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    transport.abort(error.exitCode());
  }
  return 0;
}
