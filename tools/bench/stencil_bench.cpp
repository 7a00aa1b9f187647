// Heat conduction (7-point stencil) and piecewise linear advection (two stages) in 3-D through the whole
// runtime, against loop nests written by hand on whole arrays, in turns, step by step, in one process: so
// what else the machine does meets both. The smallest time of each counts.
//
//   tessera_stencil_bench [--case heat,advection] [--cells 64,128] [--patch 16,32,64,0] [--threads 1,2]
//   [--lines] mpiexec.mpich -n 2 tessera_stencil_bench [...]
//
// A patch of 0 stands for one patch. Prints million cells a second, and ours as percent of the hand-written
// one's; with --lines one figure a line, with its target, for programs. Under mpiexec: the N ranks of one
// thread each, against one rank of N threads, in turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "core/transport/loopback_transport.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "scheduler/cores.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/hand_stencil.hpp"
#include "tools/bench/step_case.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Takes the time of each step, and of as many hand-written ones after some of them, where there are any.
class InTurns : public RunListener {
 public:
  InTurns(HandStencil* hand, double seconds) : hand_(hand), seconds_(seconds) {}

  bool began(Simulation& /*simulation*/, bool /*restored*/, std::span<const double> /*control*/) override {
    begin_ = start_ = SteadyClock::now();
    return false;
  }
  /// All ranks combine whether one has had enough, so that all end with the same step.
  std::vector<double> control() override { return {secondsSince(begin_) > seconds_ ? 1.0 : 0.0}; }
  bool stepped(Simulation& simulation, std::span<const double> control) override {
    ours = std::min(ours, secondsSince(start_));
    if (++steps_ % kTurn == 0 && hand_ != nullptr) handTurn(simulation.clock().dt());
    start_ = SteadyClock::now();
    return steps_ >= 2 * kTurn && control[0] > 0.0;
  }

  double ours = std::numeric_limits<double>::infinity();
  double theirs = std::numeric_limits<double>::infinity();

 private:
  static constexpr std::int64_t kTurn = 8;  ///< steps

  void handTurn(double dt) {
    for (std::int64_t n = 0; n < kTurn; ++n) {
      const auto before = SteadyClock::now();
      hand_->step(dt);
      theirs = std::min(theirs, secondsSince(before));
    }
  }

  HandStencil* hand_;
  double seconds_;
  std::int64_t steps_ = 0;
  SteadyClock::time_point begin_, start_;
};

/// What to compute, and how halos are kept.
struct Case : StepCase {
  HaloKeeping halos = HaloKeeping::Auto;
};

/// Runs the case; `turns` follows this rank.
void run(const Case& what, Transport& transport, int threads, InTurns& turns) {
  const Deck deck = Deck::fromText(what.deck(), "stencil_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  SimulationOptions options;
  options.threads = threads;
  options.halos = what.halos;
  options.caches = allowedCores().caches;
  options.caches.shared /= transport.size();
  Simulation simulation(deck, registry, transport, options);
  simulation.run(turns);
}

/// Best step of one rank without any other.
void runAlone(const Case& what, int threads, InTurns& turns) {
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) { run(what, transport, threads, turns); });
}

/// Until all ranks are here; asleep, so that others have the cores.
void meet(Transport& transport) {
  double nothing = 0.0;
  const Transport::Request all = transport.allReduceMax({&nothing, 1});
  while (!transport.test(all)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// The targets of docs/figures/stencils.md. One patch keeps one thread busy, whatever there are.
const char* targetOf(const Case& what, int threads) {
  if (what.patch >= 32 || (what.patch == 0 && threads == 1)) return ">=90";
  return what.patch == 16 ? ">=75" : "-";
}

void compareWithHand(const Case& what, int threads, double seconds, const FigureLines& lines) {
  const auto hand =
      what.physics == "heat" ? makeHandHeat(what.cells, threads) : makeHandAdvection(what.cells, threads);
  InTurns turns(hand.get(), seconds);
  runAlone(what, threads, turns);
  const double percent = 100.0 * turns.theirs / turns.ours;
  std::fprintf(lines.table(), "%-9s %6lld %6lld %8d %12.1f %12.1f %8.0f %%\n", what.physics.c_str(),
               static_cast<long long>(what.cells), static_cast<long long>(what.patch), threads,
               what.million() / turns.ours, what.million() / turns.theirs, percent);
  std::fflush(lines.table());
  lines.add(what.physics + "_" + std::to_string(what.cells) + "_patch_" + std::to_string(what.patch) +
                "_threads_" + std::to_string(threads),
            percent, "%_of_by_hand", targetOf(what, threads));
}

void compareRanks(const Case& what, Transport& transport, double seconds) {
  constexpr int kTurns = 3;
  const int ranks = transport.size();
  double byRanks = std::numeric_limits<double>::infinity();
  double byThreads = byRanks;
  for (int turn = 0; turn < kTurns; ++turn) {
    InTurns first(nullptr, seconds / kTurns);
    run(what, transport, 1, first);
    byRanks = std::min(byRanks, first.ours);
    if (transport.rank() == 0) {
      InTurns second(nullptr, seconds / kTurns);
      runAlone(what, ranks, second);
      byThreads = std::min(byThreads, second.ours);
    }
    meet(transport);
  }
  if (transport.rank() != 0) return;
  std::printf("%-9s %6lld %6lld %8d %12.1f %12.1f %8.0f %%\n", what.physics.c_str(),
              static_cast<long long>(what.cells), static_cast<long long>(what.patch), ranks,
              what.million() / byRanks, what.million() / byThreads, 100.0 * byThreads / byRanks);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::vector<std::string> cases{"heat", "advection"};
  std::vector<std::int64_t> cells{64, 128};
  std::vector<std::int64_t> patches{8, 16, 32, 64, 0};
  std::vector<int> threads{1, 2};
  double seconds = 1.0;
  int halos = 0;
  CLI::App app{"Stencils through the runtime against hand-written loop nests"};
  app.add_option("--case", cases, "heat, advection")
      ->delimiter(',')
      ->check(CLI::IsMember({"heat", "advection"}))
      ->capture_default_str();
  app.add_option("--cells", cells, "cells along each axis")->delimiter(',')->capture_default_str();
  app.add_option("--patch", patches, "cells of a patch along each axis; 0: one patch")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--threads", threads, "worker threads")->delimiter(',')->capture_default_str();
  app.add_option("--halos", halos, "0: as tessera run chooses, 1: in place, 2: in scratch windows")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  app.add_option("--seconds", seconds, "for each line")->capture_default_str();
  bool asLines = false;
  app.add_flag("--lines", asLines, "figures for programs: name value unit target; not under mpiexec");
  CLI11_PARSE(app, argc, argv);
  const tessera::bench::FigureLines lines(asLines);
  const tessera::MpiSession mpi;
  tessera::MpiTransport transport;
  const bool several = transport.size() > 1;
  if (several) threads = {1};
  if (transport.rank() == 0) {
    std::fprintf(lines.table(), "%s\n",
                 several ? "case       cells  patch    ranks    ranks M/s  threads M/s    ratio"
                         : "case       cells  patch  threads  Tessera M/s     hand M/s    ratio");
  }
  for (const std::string& physics : cases) {
    for (const int t : threads) {
      for (const std::int64_t n : cells) {
        for (const std::int64_t p : patches) {
          if (p >= n || (several && p == 0)) continue;
          const tessera::bench::Case what{{physics, n, p}, static_cast<tessera::HaloKeeping>(halos)};
          if (several) {
            tessera::bench::compareRanks(what, transport, seconds);
          } else {
            tessera::bench::compareWithHand(what, t, seconds, lines);
          }
        }
      }
    }
  }
  return 0;
}
