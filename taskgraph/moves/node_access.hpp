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
  std::int32_t fill = -1;  ///< that takes the value or brings it to the task; -1: the task looks for itself
};

namespace detail {

inline NodeAccess::How howOf(const UnitAccess& access) {
  if (access.mode == AccessMode::Write) return NodeAccess::How::Overwrite;
  return access.mode == AccessMode::Modify ? NodeAccess::How::Change : NodeAccess::How::Read;
}

}  // namespace detail

/// Calls `visit(NodeAccess)` for all that a row of a fill touches; some of it several times. Nothing for a
/// row whose work another one does, or the task that reads it.
template <class Visit>
void forEachAccessOfRow(const MoveBuilder& moves, std::int32_t fill, std::int32_t row, Visit&& visit) {
  if (moves.graph().fills[static_cast<std::size_t>(fill)].scratch) return;
  for (const Move& move : moves.ofRow(fill, row)) {
    visit(NodeAccess{move.to, move.label, move.generation, NodeAccess::How::Change, -1, fill});
    if (move.what.kind == MoveKind::Condition) continue;
    visit(NodeAccess{move.from, move.label, move.generation, NodeAccess::How::Read, -1, fill});
  }
}

namespace detail {

/// What a task touches that works on own patch `local`, the one of that number on its level.
template <class Visit>
void forEachAccessOnPatch(const MoveBuilder& moves, const TaskUnit& unit, std::int32_t local,
                          std::int32_t number, Visit&& visit) {
  const CompiledGraph& graph = moves.graph();
  for (const UnitAccess& access : graph.accessesOf(unit)) {
    NodeAccess touched{{MoveRef::In::Entry, local}, access.label, generationOf(access.mode),
                       detail::howOf(access),       -1,           access.fill};
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
        visit(NodeAccess{move.from, move.label, move.generation, NodeAccess::How::Read, -1, access.fill});
    }
  }
}

}  // namespace detail

/// The same for number `number` of a block of tasks.
template <class Visit>
void forEachAccessOfTask(const MoveBuilder& moves, const NodeBlock& block, std::int32_t number,
                         Visit&& visit) {
  const TaskUnit& unit = moves.graph().unitOf(block);
  if (unit.part != UnitPart::AllPatches)
    return detail::forEachAccessOnPatch(moves, unit, block.firstLocal + number, number, visit);
  const Range own = moves.graphs().localsOfLevel[static_cast<std::size_t>(unit.level)];
  for (std::int32_t n = 0; n < own.size(); ++n)
    detail::forEachAccessOnPatch(moves, unit, block.firstLocal + n, n, visit);
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
void forEachAccess(const MoveBuilder& moves, NodeId node, Visit&& visit) {
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
