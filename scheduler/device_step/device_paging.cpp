#include "scheduler/device_step/device_paging.hpp"

#include <algorithm>
#include <numeric>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/diagnostics/node_names.hpp"

namespace tessera::detail {

DevicePaging::DevicePaging(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           DataWarehouse& data, const DeviceStore& store, DevicePager& pager,
                           std::span<const std::int32_t> nodes, LaunchProfiler& watch, std::string device)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      placed_(placed),
      data_(data),
      moves_(graphs, plan),
      store_(store),
      pager_(pager),
      nodes_(nodes),
      device_(std::move(device)),
      order_(nodes.size()),
      launched_(nodes.size(), -1) {
  shown_.watch = &watch;
  shown_.in = watch.add("variables back to the device", DeviceWork::Copy);
  shown_.out = watch.add("variables out to the host", DeviceWork::Copy);
  std::iota(order_.begin(), order_.end(), 0);
}

/// Entries of a variable on a level swap their generations together, so one of them tells for all.
std::vector<std::int32_t> DevicePaging::configuration() const {
  std::vector<std::int32_t> descriptions;
  for (const Range& locals : graphs_.localsOfLevel) {
    for (LabelId label = 0; label < data_.labels().count(); ++label) {
      for (std::int64_t local = locals.begin; local < locals.end; ++local) {
        const auto own = static_cast<std::size_t>(local);
        if (!data_.has(label, own)) continue;
        descriptions.push_back(data_.descriptionOf(Generation::Old, label, own));
        break;
      }
    }
  }
  return descriptions;
}

void DevicePaging::begin() {
  const std::vector<std::int32_t> key = configuration();
  auto found = known_.find(key);
  if (found == known_.end()) {
    found = known_.emplace(key, makeUses()).first;
    expectToFit(found->second);
  }
  now_ = &found->second;
  std::fill(launched_.begin(), launched_.end(), -1);
  count_ = 0;
  next_.assign(now_->pieceBegin.begin(), std::prev(now_->pieceBegin.end()));
  for (const std::int32_t piece : now_->unborn) pager_.forget(piece);
  pager_.begin(this, shown_);
}

void DevicePaging::end() {
  for (std::int32_t piece = 0; piece < pager_.pieceCount(); ++piece) {
    if (now_->dies[static_cast<std::size_t>(piece)] != 0) pager_.forget(piece);
  }
  pager_.begin(nullptr, shown_);
  now_ = nullptr;
  if (isLearned_) return;
  order_ = launched_;
  isLearned_ = true;
  known_.clear();  // they are in another order
}

UseForecast::Outlook DevicePaging::of(std::int32_t piece) {
  const auto n = static_cast<std::size_t>(piece);
  const std::int32_t begin = now_->pieceBegin[n];
  const std::int32_t end = now_->pieceBegin[n + 1];
  const auto toucher = [&](std::int32_t position) {
    return now_->byPiece[static_cast<std::size_t>(position)];
  };
  std::int32_t& next = next_[n];
  while (next < end && launched_[static_cast<std::size_t>(toucher(next).task)] >= 0) ++next;
  if (next < end) {
    const Toucher touches = toucher(next);
    return {order_[static_cast<std::size_t>(touches.task)],
            !isLearned_ || touches.access != PieceAccess::Overwrite};
  }
  // In the next step, which is likely to go as this one.
  const std::int64_t step = std::ssize(order_);
  const std::int64_t again = begin < end ? order_[static_cast<std::size_t>(toucher(begin).task)] : step;
  return {step + again, now_->dies[n] == 0};
}

DevicePaging::Uses DevicePaging::makeUses() const {
  Uses uses;
  uses.begin.push_back(0);
  std::vector<PieceUse> touched;
  for (const std::int32_t node : nodes_) {
    touched.clear();
    addNode(touched, node);
    uses.byTask.insert(uses.byTask.end(), touched.begin(), touched.end());
    uses.begin.push_back(static_cast<std::int32_t>(uses.byTask.size()));
  }
  sortByPiece(uses);
  noteLives(uses);
  return uses;
}

void DevicePaging::expectToFit(const Uses& uses) const {
  const std::int64_t room = pager_.capacity() * pager_.segmentBytes();
  for (std::size_t task = 0; task < nodes_.size(); ++task) {
    const std::int64_t bytes = pager_.bytesOf(usesOf(uses, static_cast<std::int32_t>(task)));
    if (bytes > room) refuse(placedNodeName(graphs_, plan_, placed_, nodes_[task]), bytes);
  }
}

void DevicePaging::refuse(const std::string& what, std::int64_t bytes) const {
  const DevicePagingCounts& counts = pager_.counts();
  throw DeviceError(
      DeviceFault::OutOfMemory,
      Message(what + " does not fit on the device")
          .line("device    ", device_)
          .line("needs     ", bytes, " bytes at once, in pieces of ", pager_.segmentBytes())
          .line("limit     ", counts.limitBytes, " bytes, of ", counts.neededBytes,
                " that all variables need")
          .line("fix       ", "raise device.limit, use smaller patches, or more ranks with a device each")
          .text());
}

void DevicePaging::refuseCopy(LabelId label, std::int32_t local) const {
  const PieceUse use{pieceOf(Generation::Old, label, local), PieceAccess::Read};
  const PatchId patch = data_.ownPatches()[static_cast<std::size_t>(local)];
  refuse("Old " + data_.labels().info(label).name + " on patch " + asText(data_.hierarchy().patch(patch)),
         pager_.bytesOf(std::span(&use, 1)));
}

/// Deals the uses out to pieces, in the expected order.
void DevicePaging::sortByPiece(Uses& uses) const {
  std::vector<std::int32_t> tasks(order_.size());
  for (std::size_t task = 0; task < order_.size(); ++task) {
    tasks[static_cast<std::size_t>(order_[task])] = static_cast<std::int32_t>(task);
  }
  const auto forEachUse = [&](const auto& visit) {
    for (const std::int32_t task : tasks) {
      for (const PieceUse& use : usesOf(uses, task)) {
        visit(static_cast<std::size_t>(use.piece), Toucher{task, use.access});
      }
    }
  };
  uses.pieceBegin.assign(static_cast<std::size_t>(pager_.pieceCount()) + 1, 0);
  forEachUse([&](std::size_t piece, const Toucher&) { ++uses.pieceBegin[piece + 1]; });
  std::partial_sum(uses.pieceBegin.begin(), uses.pieceBegin.end(), uses.pieceBegin.begin());
  uses.byPiece.resize(uses.byTask.size());
  std::vector<std::int32_t> at(uses.pieceBegin.begin(), std::prev(uses.pieceBegin.end()));
  forEachUse([&](std::size_t piece, const Toucher& toucher) {
    uses.byPiece[static_cast<std::size_t>(at[piece]++)] = toucher;
  });
}

void DevicePaging::noteLives(Uses& uses) const {
  uses.dies.assign(static_cast<std::size_t>(pager_.pieceCount()), 0);
  for (LevelId level = 0; level < std::ssize(graphs_.localsOfLevel); ++level) {
    const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(level)];
    for (LabelId label = 0; label < data_.labels().count(); ++label) {
      const bool isWritten =
          std::any_of(graph_.written.begin(), graph_.written.end(),
                      [&](const LevelLabel& w) { return w.label == label && w.level == level; });
      for (auto local = static_cast<std::int32_t>(locals.begin); local < locals.end; ++local) {
        noteLife(uses, label, local, isWritten);
      }
    }
  }
  for (std::size_t n = 0; n < data_.gathers()[plan_].size(); ++n) {
    if (!store_.hasGather(plan_, n)) continue;
    const std::int32_t piece = pager_.pieceAt(store_.gatherMemory(plan_, n));
    uses.dies[static_cast<std::size_t>(piece)] = 1;
    uses.unborn.push_back(piece);
  }
}

/// New is what Old was a step ago, or a variable of one generation that this plan writes before it reads it.
/// Old ends with its readers where New takes its place.
void DevicePaging::noteLife(Uses& uses, LabelId label, std::int32_t local, bool isWritten) const {
  if (!store_.has(label, static_cast<std::size_t>(local))) return;
  const std::int32_t old = pieceOf(Generation::Old, label, local);
  const std::int32_t next = pieceOf(Generation::New, label, local);
  const auto n = static_cast<std::size_t>(next);
  if (old != next) {
    uses.unborn.push_back(next);
    if (isWritten) uses.dies[static_cast<std::size_t>(old)] = 1;
  } else if (uses.pieceBegin[n] < uses.pieceBegin[n + 1]) {
    uses.unborn.push_back(next);
  }
}

void DevicePaging::addNode(std::vector<PieceUse>& touched, std::int32_t node) const {
  const PlacedBlock& placed = placed_.block(node);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const std::int32_t number = placed_.numberOf(node);
  switch (placed.kind) {
    case PlacedKind::CopyIn:
      return add(touched, Generation::New, placed.label, block.firstLocal + number, PieceAccess::Change);
    case PlacedKind::CopyOut:
      return add(touched, Generation::New, placed.label, block.firstLocal + number, PieceAccess::Read);
    case PlacedKind::Pack:
    case PlacedKind::Original:
    case PlacedKind::Twin:
      break;
  }
  forEachAccess(moves_, block.firstNode + number, [&](const NodeAccess& access) {
    const bool onHost =
        access.item >= 0 && placed_.packPlaces[static_cast<std::size_t>(access.item)] == kOnHost;
    if (onHost) return;
    if (access.memory.in == MoveRef::In::Gather)
      addGather(touched, access.memory.number, pieceAccessOf(access));
    if (access.memory.in == MoveRef::In::Entry)
      add(touched, access.generation, access.label, access.memory.number, pieceAccessOf(access));
  });
}

/// A window of several patches holds what tasks on the others have written.
PieceAccess DevicePaging::pieceAccessOf(const NodeAccess& access) const {
  if (access.how == NodeAccess::How::Read) return PieceAccess::Read;
  const bool whole = access.how == NodeAccess::How::Overwrite &&
                     !data_.isShared(access.label, static_cast<std::size_t>(access.memory.number));
  return whole ? PieceAccess::Overwrite : PieceAccess::Change;
}

void DevicePaging::add(std::vector<PieceUse>& touched, Generation generation, LabelId label,
                       std::int32_t local, PieceAccess access) const {
  touch(touched, pieceOf(generation, label, local), access);
}

void DevicePaging::addGather(std::vector<PieceUse>& touched, std::int32_t buffer, PieceAccess access) const {
  const void* memory = store_.gatherMemory(plan_, static_cast<std::size_t>(buffer));
  touch(touched, pager_.pieceAt(memory), access);
}

void DevicePaging::touch(std::vector<PieceUse>& touched, std::int32_t piece, PieceAccess access) {
  const auto known =
      std::find_if(touched.begin(), touched.end(), [&](const PieceUse& use) { return use.piece == piece; });
  if (known == touched.end()) {
    touched.push_back({piece, access});
  } else if (known->access != access) {
    known->access = PieceAccess::Change;
  }
}

}  // namespace tessera::detail
