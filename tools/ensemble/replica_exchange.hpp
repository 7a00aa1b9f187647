#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/deck/deck.hpp"
#include "core/transport/transport.hpp"
#include "scheduler/engine/engine.hpp"

namespace tessera::ensemble {

/// The table [replica_exchange] of a deck: harmonic replicas at a ladder of temperatures.
struct ReplicaExchangePlan {
  std::vector<double> temperatures;  ///< rising
  std::int32_t freedoms = 0;         ///< of each replica
  std::int32_t rounds = 0;           ///< of dynamics and attempted swaps
  std::int32_t steps = 0;            ///< of dynamics a round, 0.5 time units each
  std::uint64_t seed = 0;
};

/// Throws DeckError with everything that is wrong.
ReplicaExchangePlan readReplicaExchange(const Deck& deck);

/// What neighbours in the ladder did.
struct PairReport {
  double ratio = 0.0;  ///< of the temperatures
  std::int64_t attempts = 0;
  std::int64_t accepted = 0;
  double exact = 0.0;     ///< acceptance of the theory
  double sigmas() const;  ///< how far the measured acceptance is from it, in standard deviations
};
struct TemperatureReport {
  double temperature = 0.0;
  double meanPotential = 0.0;
  double exactMean = 0.0;  ///< freedoms * temperature / 2
};
struct ReplicaExchangeReport {
  std::vector<PairReport> pairs;
  std::vector<TemperatureReport> temperatures;
  std::int64_t roundTrips = 0;  ///< of replicas, from the coldest to the hottest and back
};

/// Runs it on the engines of all ranks: each looks after the replicas whose number is its own modulo the
/// ranks, and all agree on energies each round. Random numbers are numbered, so the report is the same for
/// any number of ranks and workers, bit by bit. Collective.
ReplicaExchangeReport runReplicaExchange(const ReplicaExchangePlan& plan, engine::Engine& engine,
                                         Transport& transport);

/// pairs.csv and temperatures.csv in the folder.
void writeReport(const ReplicaExchangeReport& report, const std::filesystem::path& folder);

}  // namespace tessera::ensemble
