// Heat conduction in 3-D through the whole runtime against a loop nest written by hand on whole arrays, in
// turns, step by step, in one process: so what else the machine does meets both. The smallest time of each
// counts.
//
//   tessera_stencil_bench [--cells 64,128] [--patch 16,32,64,0] [--threads 1,2] [--seconds 1]
//
// A patch of 0 stands for one patch. Prints million cells a second, and ours as percent of the hand-written
// one's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/component.hpp"
#include "core/deck.hpp"
#include "core/loopback_transport.hpp"
#include "tools/bench/hand_stencil.hpp"
#include "tools/tessera/core_schema.hpp"
#include "tools/tessera/simulation.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Takes the time of each step, and of a hand-written one after it.
class InTurns : public RunListener {
 public:
  InTurns(HandStencil& hand, double seconds) : hand_(hand), seconds_(seconds) {}

  bool began(Simulation& /*simulation*/, bool /*restored*/, std::span<const double> /*control*/) override {
    begin_ = start_ = SteadyClock::now();
    return false;
  }
  bool stepped(Simulation& simulation, std::span<const double> /*control*/) override {
    ours = std::min(ours, secondsSince(start_));
    const auto before = SteadyClock::now();
    hand_.step(simulation.clock().dt());
    theirs = std::min(theirs, secondsSince(before));
    start_ = SteadyClock::now();
    return ++steps_ >= 5 && secondsSince(begin_) > seconds_;
  }

  double ours = std::numeric_limits<double>::infinity();
  double theirs = std::numeric_limits<double>::infinity();

 private:
  HandStencil& hand_;
  double seconds_;
  std::int64_t steps_ = 0;
  SteadyClock::time_point begin_, start_;
};

std::string heatDeck(std::int64_t cells, std::int64_t patch) {
  const auto cube = [](std::int64_t n) {
    const std::string text = std::to_string(n);
    return "[" + text + ", " + text + ", " + text + "]";
  };
  return "[simulation]\ncomponents = [\"heat\"]\n[grid]\nlower = [0, 0, 0]\nupper = [1, 1, 1]\ncells = " +
         cube(cells) + "\npatch_size = " + cube(patch) +
         "\nperiodic = [true, true, true]\n[time]\nend = 1e9\n[heat]\nconductivity = 1\ninitial = \"1 + "
         "x*y*z\"\n";
}

void measure(std::int64_t cells, std::int64_t patch, int threads, double seconds) {
  const Deck deck = Deck::fromText(heatDeck(cells, patch == 0 ? cells : patch), "stencil_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  HandStencil hand(cells, threads);
  InTurns turns(hand, seconds);
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    SimulationOptions options;
    options.threads = threads;
    Simulation simulation(deck, registry, transport, options);
    simulation.run(turns);
  });
  const double million = 1e-6 * static_cast<double>(cells * cells * cells);
  std::printf("%6lld %6lld %8d %12.1f %12.1f %8.0f %%\n", static_cast<long long>(cells),
              static_cast<long long>(patch), threads, million / turns.ours, million / turns.theirs,
              100.0 * turns.theirs / turns.ours);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  std::vector<std::int64_t> cells{64, 128};
  std::vector<std::int64_t> patches{8, 16, 32, 64, 0};
  std::vector<int> threads{1, 2};
  double seconds = 1.0;
  CLI::App app{"Heat conduction through the runtime against a hand-written loop nest"};
  app.add_option("--cells", cells, "cells along each axis")->delimiter(',')->capture_default_str();
  app.add_option("--patch", patches, "cells of a patch along each axis; 0: one patch")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--threads", threads, "worker threads")->delimiter(',')->capture_default_str();
  app.add_option("--seconds", seconds, "for each line")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::printf(" cells  patch  threads   Tessera M/s     hand M/s    ratio\n");
  for (const int t : threads) {
    for (const std::int64_t n : cells) {
      for (const std::int64_t p : patches) {
        if (p < n) tessera::bench::measure(n, p, t, seconds);
      }
    }
  }
  return 0;
}
