#include "tools/bench/shortest_step.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "core/transport/loopback_transport.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {
namespace {

/// The time of the shortest step.
class Shortest : public RunListener {
 public:
  explicit Shortest(double seconds) : seconds_(seconds) {}

  bool began(Simulation&, bool, std::span<const double>) override {
    begin_ = last_ = SteadyClock::now();
    return false;
  }
  bool stepped(Simulation&, std::span<const double>) override {
    const auto now = SteadyClock::now();
    step = std::min(step, std::chrono::duration<double>(now - last_).count());
    last_ = now;
    return std::chrono::duration<double>(now - begin_).count() > seconds_;
  }

  double step = std::numeric_limits<double>::infinity();

 private:
  using SteadyClock = std::chrono::steady_clock;

  double seconds_;
  SteadyClock::time_point begin_, last_;
};

}  // namespace

double shortestStep(const Deck& deck, const ComponentRegistry& registry, double seconds) {
  checkDeck(deck, registry).throwIfErrors();
  Shortest shortest(seconds);
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    SimulationOptions options;
    options.threads = 1;
    Simulation simulation(deck, registry, transport, options);
    simulation.run(shortest);
  });
  return shortest.step;
}

}  // namespace tessera::bench
