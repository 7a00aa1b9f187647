#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "taskgraph/compile/union_graph.hpp"
#include "taskgraph/proof/race_faults.hpp"
#include "taskgraph/proof/race_names.hpp"
#include "taskgraph/proof/touches.hpp"

namespace tessera::detail {

/// Proves that what nodes do with the memories of one space is the same in every order that the edges allow:
/// conflicting pairs are ordered, in the direction that the versions ask for; variables that share bytes come
/// one after the other; what is read has been written. Notes what is not so.
class TouchProof {
 public:
  using NodeName = std::function<std::string(std::int64_t)>;

  /// `nodes` are sorted; the touches name theirs. `where` is added to names of memories.
  TouchProof(std::span<const CompiledGraphs> ranks, std::size_t plan, const UnionGraph& nodes,
             const RaceNames& names, NodeName nodeName, std::string where, RaceFaults& faults)
      : ranks_(ranks),
        plan_(plan),
        nodes_(nodes),
        names_(names),
        nodeName_(std::move(nodeName)),
        where_(std::move(where)),
        faults_(faults) {}

  /// Returns the number of pairs of nodes that are in conflict.
  std::int64_t prove(std::vector<Touch> touches);

 private:
  struct Pair {
    std::size_t first = 0;
    std::size_t second = 0;
  };

  void checkMemories();
  void checkMemory(std::size_t begin, std::size_t end);
  void checkRooms();
  void checkPair(std::size_t a, std::size_t b);
  void checkCovered(std::size_t reader, std::size_t begin, std::size_t end);
  void want(const Pair& pair);
  std::int64_t reportMissing();
  std::string memory(const Memory& memory) const { return names_.memory(memory) + where_; }

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  const UnionGraph& nodes_;
  const RaceNames& names_;
  NodeName nodeName_;
  std::string where_;
  RaceFaults& faults_;
  std::vector<Touch> touches_;
  std::vector<Pair> pairs_;
  std::vector<WantedPath> wanted_;  ///< reasons are positions in pairs_
};

}  // namespace tessera::detail
