#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "taskgraph/compile/declared_versions.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/proof/race_faults.hpp"

namespace tessera::detail {

/// A packed piece, and on which rank.
struct PackPlace {
  Rank rank = 0;
  std::int64_t item = 0;
};

/// The messages of one plan between all ranks: the partner of each, and what its bytes are.
class RaceMessages {
 public:
  /// Notes sends and receives that have no partner, or one of other length.
  RaceMessages(std::span<const CompiledGraphs> ranks, std::size_t plan, RaceFaults& faults);

  /// A send and its receive: (rank, send) and (rank, receive).
  struct Pair {
    Rank from = 0;
    std::int32_t send = 0;
    Rank to = 0;
    std::int32_t receive = 0;
  };
  const std::vector<Pair>& pairs() const { return pairs_; }

  /// Follows these bytes of a receive, over ranks that pass them on, to the patch that they were packed from;
  /// nothing where they are no whole piece.
  std::optional<PackPlace> originOf(Rank rank, std::int32_t receive, std::int64_t offset,
                                    std::int64_t bytes) const;
  const PackItem& item(PackPlace place) const {
    return graph(place.rank).packItems[static_cast<std::size_t>(place.item)];
  }

 private:
  const CompiledGraph& graph(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)].plans[plan_]; }

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  std::vector<Pair> pairs_;
  std::map<std::pair<Rank, std::int32_t>, std::pair<Rank, std::int32_t>>
      sendOf_;  ///< (rank, receive) to (rank, send)
};

}  // namespace tessera::detail
