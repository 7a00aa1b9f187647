#pragma once

#include "taskgraph/moves/build_moves.hpp"

namespace tessera {

/// A piece of memory of this rank that a node of a compiled graph touches.
struct NodeAccess {
  enum class How : std::uint8_t {
    Read,
    Overwrite,  ///< all that is owned there, without looking at it
    Change,     ///< some of it, or by reading it first
  };
  MoveRef memory;
  LabelId label = -1;
  Generation generation = Generation::Old;  ///< of entries
  How how = How::Read;
  std::int64_t item = -1;  ///< of what a send packs: its PackItem
};

namespace detail {

// Modes of UnitAccess.
inline constexpr std::uint8_t kReadOld = 0;
inline constexpr std::uint8_t kWrite = 2;
inline constexpr std::uint8_t kModify = 3;

inline NodeAccess::How howOf(const UnitAccess& access) {
  if (access.mode == kWrite) return NodeAccess::How::Overwrite;
  return access.mode == kModify ? NodeAccess::How::Change : NodeAccess::How::Read;
}

}  // namespace detail

/// Calls `visit(NodeAccess)` for all that a row of a fill touches; some of it several times. Nothing for a
/// row whose work another one does, or the task that reads it.
template <class Visit>
void forEachAccessOfRow(const MoveBuilder& moves, std::int32_t fill, std::int32_t row, Visit&& visit) {
  if (moves.graph().fills[static_cast<std::size_t>(fill)].scratch) return;
  for (const Move& move : moves.ofRow(fill, row)) {
    visit(NodeAccess{move.to, move.label, move.generation, NodeAccess::How::Change});
    if (move.what.kind == MoveKind::Condition) continue;
    visit(NodeAccess{move.from, move.label, move.generation, NodeAccess::How::Read});
  }
}

/// The same for number `number` of a block of tasks.
template <class Visit>
void forEachAccessOfTask(const MoveBuilder& moves, const NodeBlock& block, std::int32_t number,
                         Visit&& visit) {
  const CompiledGraph& graph = moves.graph();
  const TaskUnit& unit = graph.units[static_cast<std::size_t>(block.item)];
  const std::int32_t local = block.firstLocal + number;
  for (std::int64_t a = unit.accesses.begin; a < unit.accesses.end; ++a) {
    const UnitAccess& access = graph.accesses[static_cast<std::size_t>(a)];
    NodeAccess touched{{MoveRef::In::Entry, local},
                       access.label,
                       access.mode == detail::kReadOld ? Generation::Old : Generation::New,
                       detail::howOf(access)};
    if (access.reach != Reach::Patch) {
      const FillPlan& fill = graph.fills[static_cast<std::size_t>(access.fill)];
      touched.generation = fill.generation;
      const std::int32_t row = access.reach == Reach::WholeLevel ? 0 : number;
      touched.memory =
          fill.firstGather >= 0
              ? MoveRef{MoveRef::In::Gather, fill.firstGather + row}
              : MoveRef{MoveRef::In::Entry,
                        moves.graphs().shared[static_cast<std::size_t>(fill.shared.begin)].members.front()};
    }
    visit(touched);
    if (!graph.isScratch(access)) continue;
    for (const Move& move : moves.ofRow(access.fill, number)) {
      if (move.what.kind != MoveKind::Condition)
        visit(NodeAccess{move.from, move.label, move.generation, NodeAccess::How::Read});
    }
  }
}

/// The same for a send: what it packs, and its message.
template <class Visit>
void forEachAccessOfSend(const MoveBuilder& moves, std::int32_t send, Visit&& visit) {
  std::int64_t item = moves.graph().sends[static_cast<std::size_t>(send)].items.begin;
  for (const Move& move : moves.ofMessage(send)) {
    visit(NodeAccess{move.from, move.label, move.generation, NodeAccess::How::Read, item});
    visit(NodeAccess{move.to, move.label, move.generation, NodeAccess::How::Change, item++});
  }
}

/// Calls `visit(NodeAccess)` for all memory that a node of the graph touches. The one answer for all who ask
/// but the race proof, which has its own.
template <class Visit>
void forEachAccess(const MoveBuilder& moves, std::int32_t node, Visit&& visit) {
  const NodeBlock& block = moves.graph().block(node);
  const std::int32_t number = node - block.firstNode;
  switch (block.kind) {
    case NodeKind::Task:
      return forEachAccessOfTask(moves, block, number, visit);
    case NodeKind::Fill:
      return forEachAccessOfRow(moves, block.item, number, visit);
    case NodeKind::Send:
      return forEachAccessOfSend(moves, block.item + number, visit);
    case NodeKind::Receive:
      return visit(NodeAccess{
          {MoveRef::In::Received, block.item + number}, -1, Generation::New, NodeAccess::How::Overwrite});
    case NodeKind::Reduce:
      return;
  }
}

}  // namespace tessera
