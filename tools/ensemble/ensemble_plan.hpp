#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/deck/deck.hpp"
#include "scheduler/engine/engine.hpp"

namespace tessera::ensemble {

/// A kind of task that decks can name: what its parameters and results are called.
struct EnsembleKind {
  std::string name;
  std::vector<std::string> parameters;  ///< all are numbers, and all are required
  std::vector<std::string> results;
  engine::Task (*task)(std::span<const double> values) = nullptr;
  std::vector<double> (*read)(const engine::Finished& finished) = nullptr;
};

/// All of them.
const std::vector<EnsembleKind>& ensembleKinds();

/// Tasks of one kind, one for each combination of the values that are swept; the last key of the deck changes
/// fastest.
struct Stage {
  std::string name;
  const EnsembleKind* kind = nullptr;
  std::vector<std::size_t> after;            ///< stages that have to be done before
  std::vector<std::vector<double>> choices;  ///< by parameter of the kind: one value, or those of the sweep

  std::int64_t tasks() const;
  /// The values of task `index`, by parameter.
  std::vector<double> values(std::int64_t index) const;
};

/// What a deck asks for.
struct EnsemblePlan {
  std::int64_t retries = 0;   ///< of a task that fails
  std::vector<Stage> stages;  ///< each behind those that it waits for
};

/// Throws DeckError with everything that is wrong, each with its place.
EnsemblePlan readPlan(const Deck& deck);

}  // namespace tessera::ensemble
