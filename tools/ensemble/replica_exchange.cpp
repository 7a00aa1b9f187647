#include "tools/ensemble/replica_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <numeric>

#include "core/deck/deck_diagnostics.hpp"
#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "scheduler/engine/kinds/harmonic_replica.hpp"
#include "tools/ensemble/incomplete_beta.hpp"

namespace tessera::ensemble {
namespace {

using engine::HarmonicReplica;

/// Random numbers of swaps have a stream that no replica has.
constexpr std::uint64_t kSwapStream = ~std::uint64_t{0};

/// The replicas of a rank, and which temperature each has.
class Ladder {
 public:
  Ladder(const ReplicaExchangePlan& plan, engine::Engine& engine, Transport& transport)
      : plan_(plan), engine_(engine), transport_(transport) {
    const auto count = plan.temperatures.size();
    slotOf_.resize(count);
    std::iota(slotOf_.begin(), slotOf_.end(), 0);
    states_.resize(count, nullptr);
    rescale_.resize(count, 0.0);
    wasHot_.resize(count, 0);
    for (std::size_t replica = 0; replica < count; ++replica) {
      if (isMine(replica))
        states_[replica] = engine.allocate(2 * plan.freedoms * std::int64_t{sizeof(double)});
    }
    for (std::size_t n = 0; n + 1 < count; ++n) {
      const double ratio = plan.temperatures[n + 1] / plan.temperatures[n];
      report_.pairs.push_back({ratio, 0, 0, exactAcceptance(ratio, plan.freedoms)});
    }
    for (const double temperature : plan.temperatures) {
      report_.temperatures.push_back({temperature, 0.0, plan.freedoms * temperature / 2});
    }
  }
  ~Ladder() {
    for (void* state : states_) {
      if (state != nullptr) engine_.release(state);
    }
  }
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  ReplicaExchangeReport run() {
    for (std::int32_t round = 0; round < plan_.rounds; ++round) {
      const std::vector<double> potentials = advance(round);
      for (std::size_t replica = 0; replica < slotOf_.size(); ++replica) {
        report_.temperatures[slotOf_[replica]].meanPotential += potentials[replica] / plan_.rounds;
      }
      swap(round, potentials);
      countTrips();
    }
    return report_;
  }

 private:
  bool isMine(std::size_t replica) const {
    return static_cast<int>(replica % static_cast<std::size_t>(transport_.size())) == transport_.rank();
  }

  /// One stretch of dynamics of each replica; the potential energies of all of them, on all ranks.
  std::vector<double> advance(std::int32_t round) {
    const auto count = slotOf_.size();
    std::vector<engine::Ticket<HarmonicReplica>> tickets(count);
    for (std::size_t replica = 0; replica < count; ++replica) {
      if (!isMine(replica)) continue;
      const auto packed = static_cast<std::uint32_t>(plan_.freedoms) | static_cast<std::uint32_t>(plan_.steps)
                                                                           << 16;
      tickets[replica] = engine_.submit<HarmonicReplica>(
          {static_cast<double*>(states_[replica]), plan_.seed * 0x9e3779b97f4a7c15ULL + replica,
           plan_.temperatures[slotOf_[replica]], rescale_[replica], packed,
           static_cast<std::uint32_t>(round)});
      rescale_[replica] = 1.0;
    }
    std::vector<std::int64_t> bits(count, 0);
    for (std::size_t replica = 0; replica < count; ++replica) {
      if (!isMine(replica)) continue;
      const auto outcome = engine_.wait(tickets[replica]);
      if (outcome.status != engine::TaskStatus::Done) {
        throw InternalError("replica " + std::to_string(replica) + " " + engine::statusText(outcome.status) +
                            "; the engine needs memory for its state");
      }
      bits[replica] = std::bit_cast<std::int64_t>(outcome.result.potential);
    }
    // Each number has one rank that knows it; the others add zero to its bits.
    transport_.wait(transport_.allReduceSum(bits));
    std::vector<double> potentials(count);
    for (std::size_t replica = 0; replica < count; ++replica)
      potentials[replica] = std::bit_cast<double>(bits[replica]);
    return potentials;
  }

  /// Even pairs of the ladder in even rounds, odd ones in odd rounds, with energies of the same time.
  void swap(std::int32_t round, const std::vector<double>& potentials) {
    std::vector<std::size_t> replicaAt(slotOf_.size());
    for (std::size_t replica = 0; replica < slotOf_.size(); ++replica) replicaAt[slotOf_[replica]] = replica;
    for (std::size_t cold = static_cast<std::size_t>(round % 2); cold + 1 < slotOf_.size(); cold += 2) {
      const std::size_t a = replicaAt[cold];
      const std::size_t b = replicaAt[cold + 1];
      const double exponent = (1.0 / plan_.temperatures[cold] - 1.0 / plan_.temperatures[cold + 1]) *
                              (potentials[a] - potentials[b]);
      PairReport& pair = report_.pairs[cold];
      ++pair.attempts;
      const double draw =
          engine::randomUniform(plan_.seed, kSwapStream, static_cast<std::uint64_t>(round) << 32 | cold);
      if (exponent < 0.0 && draw >= engine::plainExp(exponent)) continue;
      ++pair.accepted;
      slotOf_[a] = cold + 1;
      slotOf_[b] = cold;
      rescale_[a] = std::sqrt(plan_.temperatures[cold + 1] / plan_.temperatures[cold]);
      rescale_[b] = 1.0 / rescale_[a];
    }
  }

  void countTrips() {
    for (std::size_t replica = 0; replica < slotOf_.size(); ++replica) {
      if (slotOf_[replica] + 1 == slotOf_.size()) wasHot_[replica] = 1;
      if (slotOf_[replica] == 0 && wasHot_[replica] != 0) {
        wasHot_[replica] = 0;
        ++report_.roundTrips;
      }
    }
  }

  const ReplicaExchangePlan& plan_;
  engine::Engine& engine_;
  Transport& transport_;
  std::vector<std::size_t> slotOf_;  ///< the number of the temperature, by replica
  std::vector<void*> states_;        ///< in the engine's memory; nullptr: another rank's
  std::vector<double> rescale_;      ///< of the velocities, before the next stretch; 0: draw the state anew
  std::vector<char> wasHot_;
  ReplicaExchangeReport report_;
};

}  // namespace

double PairReport::sigmas() const {
  if (attempts == 0) return 0.0;
  const auto n = static_cast<double>(attempts);
  return (static_cast<double>(accepted) / n - exact) / std::sqrt(exact * (1.0 - exact) / n);
}

ReplicaExchangePlan readReplicaExchange(const Deck& deck) {
  DeckDiagnostics findings;
  ReplicaExchangePlan plan;
  const DeckNode* table = deck.find("replica_exchange");
  const std::vector<std::string> known = {"temperatures", "freedoms", "rounds", "steps", "seed"};
  if (table == nullptr || table->kind != DeckKind::Table) throw DeckError("[replica_exchange] is a table");
  const auto whole = [&](const char* key, std::int64_t least, std::int64_t most) {
    const DeckNode* node = table->child(key);
    if (node != nullptr && node->kind == DeckKind::Integer && node->integer() >= least &&
        node->integer() <= most) {
      return node->integer();
    }
    findings.error(node == nullptr ? table->where : node->where,
                   std::string("'") + key + "' is a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most));
    return least;
  };
  plan.freedoms = static_cast<std::int32_t>(whole("freedoms", 1, 65535));
  plan.rounds = static_cast<std::int32_t>(whole("rounds", 1, 100'000'000));
  plan.steps = static_cast<std::int32_t>(whole("steps", 1, 65535));
  plan.seed = static_cast<std::uint64_t>(whole("seed", 0, std::int64_t{1} << 53));
  for (const DeckNode& node : table->children) {
    if (std::find(known.begin(), known.end(), node.key) == known.end()) {
      findings.error(node.keyWhere, "unknown key '" + node.key + "'" + didYouMeanOneOf(node.key, known));
    }
  }
  const DeckNode* list = table->child("temperatures");
  for (const DeckNode& node : list == nullptr ? std::vector<DeckNode>{} : list->children) {
    const double value = node.kind == DeckKind::Real      ? node.real()
                         : node.kind == DeckKind::Integer ? static_cast<double>(node.integer())
                                                          : 0.0;
    if (!(value > (plan.temperatures.empty() ? 0.0 : plan.temperatures.back())) || !(value < 1e100)) {
      findings.error(node.where, "temperatures are positive numbers, each above the last");
    }
    plan.temperatures.push_back(value);
  }
  if (plan.temperatures.size() < 2 || plan.temperatures.size() > 10'000) {
    findings.error(list == nullptr ? table->where : list->where,
                   "'temperatures' is a list of 2 to 10000 numbers");
  }
  findings.throwIfErrors();
  return plan;
}

ReplicaExchangeReport runReplicaExchange(const ReplicaExchangePlan& plan, engine::Engine& engine,
                                         Transport& transport) {
  return Ladder(plan, engine, transport).run();
}

void writeReport(const ReplicaExchangeReport& report, const std::filesystem::path& folder) {
  std::ofstream pairs(folder / "pairs.csv");
  pairs.precision(17);
  pairs << "pair,ratio,attempts,accepted,acceptance,exact,sigmas\n";
  for (std::size_t n = 0; n < report.pairs.size(); ++n) {
    const PairReport& pair = report.pairs[n];
    pairs << n << ',' << pair.ratio << ',' << pair.attempts << ',' << pair.accepted << ','
          << (pair.attempts == 0 ? 0.0
                                 : static_cast<double>(pair.accepted) / static_cast<double>(pair.attempts))
          << ',' << pair.exact << ',' << pair.sigmas() << '\n';
  }
  std::ofstream temperatures(folder / "temperatures.csv");
  temperatures.precision(17);
  temperatures << "temperature,mean_potential,exact_mean\n";
  for (const TemperatureReport& each : report.temperatures) {
    temperatures << each.temperature << ',' << each.meanPotential << ',' << each.exactMean << '\n';
  }
  pairs.flush();
  temperatures.flush();
  if (!pairs || !temperatures)
    throw OutputError("cannot write the report to " + folder.string() + "; is the folder writable?");
}

}  // namespace tessera::ensemble
