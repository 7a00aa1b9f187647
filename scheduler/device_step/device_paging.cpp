#include "scheduler/device_step/device_paging.hpp"

#include <algorithm>
#include <numeric>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/diagnostics/node_names.hpp"

namespace tessera::detail {

namespace {

std::vector<DevicePager*> pagersOf(std::span<const DevicePaging::Part> parts) {
  std::vector<DevicePager*> pagers;
  for (const DevicePaging::Part& part : parts) pagers.push_back(part.side->pager());
  return pagers;
}

}  // namespace

DevicePaging::DevicePaging(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           DataWarehouse& data, std::span<const Part> parts)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      placed_(placed),
      data_(data),
      moves_(graphs, plan),
      group_(pagersOf(parts)) {
  std::int32_t tasks = 0;
  for (const Part& part : parts) {
    Place& place = places_.emplace_back(*this, part);
    place.firstTask = tasks;
    place.firstPiece = pieceCount_;
    tasks += static_cast<std::int32_t>(part.nodes.size());
    pieceCount_ += place.pieceCount();
    if (place.pager == nullptr) continue;
    place.shown.watch = part.watch;
    place.shown.in = part.watch->add("variables back to the device", DeviceWork::Copy);
    place.shown.out = part.watch->add("variables out to the host", DeviceWork::Copy);
  }
  order_.resize(static_cast<std::size_t>(tasks));
  launched_.assign(order_.size(), -1);
  std::iota(order_.begin(), order_.end(), 0);
}

/// Entries of a variable on a level swap their generations together, so one of them tells for all.
std::vector<std::int32_t> DevicePaging::placing() const {
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
  const std::vector<std::int32_t> key = placing();
  auto found = known_.find(key);
  if (found == known_.end()) {
    found = known_.emplace(key, makeUses()).first;
    expectToFit(found->second);
  }
  now_ = &found->second;
  std::fill(launched_.begin(), launched_.end(), -1);
  count_ = 0;
  next_.assign(now_->pieceBegin.begin(), std::prev(now_->pieceBegin.end()));
  forget(now_->unborn);
  for (Place& place : places_) {
    if (place.pager != nullptr) place.pager->begin(&place, place.shown);
  }
}

void DevicePaging::end() {
  std::vector<std::int32_t> dead;
  for (std::int32_t piece = 0; piece < pieceCount_; ++piece) {
    if (now_->dies[static_cast<std::size_t>(piece)] != 0) dead.push_back(piece);
  }
  forget(dead);
  for (const Place& place : places_) {
    if (place.pager != nullptr) place.pager->begin(nullptr, place.shown);
  }
  now_ = nullptr;
  if (isLearned_) return;
  order_ = launched_;
  isLearned_ = true;
  known_.clear();  // they are in another order
}

void DevicePaging::forget(std::span<const std::int32_t> pieces) const {
  for (const std::int32_t piece : pieces) {
    const auto behind = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
      return piece < place.firstPiece + place.pieceCount();
    });
    behind->pager->forget(piece - behind->firstPiece);
  }
}

UseForecast::Outlook DevicePaging::outlookOf(const Place& place, std::int32_t piece) {
  const auto n = static_cast<std::size_t>(place.firstPiece + piece);
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
  Touched touched(places_.size());
  for (const Place& place : places_) {
    for (const std::int32_t node : place.nodes) {
      addNode(touched, node);
      for (std::vector<PieceUse>& there : touched) {
        uses.byTask.insert(uses.byTask.end(), there.begin(), there.end());
        uses.begin.push_back(static_cast<std::int32_t>(uses.byTask.size()));
        there.clear();
      }
    }
  }
  sortByPiece(uses);
  noteLives(uses);
  return uses;
}

void DevicePaging::expectToFit(const Uses& uses) const {
  for (std::size_t on = 0; on < places_.size(); ++on) {
    const Place& there = places_[on];
    if (there.pager == nullptr) continue;
    const std::int64_t room = there.pager->capacity() * there.pager->segmentBytes();
    for (const Place& place : places_) {
      for (std::size_t task = 0; task < place.nodes.size(); ++task) {
        const std::int64_t bytes =
            there.pager->bytesOf(usesOf(uses, place.firstTask + static_cast<std::int32_t>(task), on));
        if (bytes > room) refuse(there, placedNodeName(graphs_, plan_, placed_, place.nodes[task]), bytes);
      }
    }
  }
}

void DevicePaging::refuse(const Place& place, const std::string& what, std::int64_t bytes) const {
  const DevicePagingCounts& counts = place.pager->counts();
  throw DeviceError(
      DeviceFault::OutOfMemory,
      Message(what + " does not fit on the device")
          .line("device    ", asText(place.side.backend->info()))
          .line("needs     ", bytes, " bytes at once, in pieces of ", place.pager->segmentBytes())
          .line("limit     ", counts.limitBytes, " bytes, of ", counts.neededBytes,
                " that all variables need")
          .line("fix       ", "raise device.limit, use smaller patches, or more ranks with a device each")
          .text());
}

void DevicePaging::refuseCopy(const Place& place, LabelId label, std::int32_t local) const {
  const PieceUse use{pieceOf(place, Generation::Old, label, local), PieceAccess::Read};
  const PatchId patch = data_.ownPatches()[static_cast<std::size_t>(local)];
  refuse(place,
         "Old " + data_.labels().info(label).name + " on patch " + asText(data_.hierarchy().patch(patch)),
         place.pager->bytesOf(std::span(&use, 1)));
}

/// Deals the uses out to pieces, in the expected order.
void DevicePaging::sortByPiece(Uses& uses) const {
  std::vector<std::int32_t> tasks(order_.size());
  for (std::size_t task = 0; task < order_.size(); ++task) {
    tasks[static_cast<std::size_t>(order_[task])] = static_cast<std::int32_t>(task);
  }
  const auto forEachUse = [&](const auto& visit) {
    for (const std::int32_t task : tasks) {
      for (std::size_t on = 0; on < places_.size(); ++on) {
        for (const PieceUse& use : usesOf(uses, task, on)) {
          visit(static_cast<std::size_t>(places_[on].firstPiece + use.piece), Toucher{task, use.access});
        }
      }
    }
  };
  uses.pieceBegin.assign(static_cast<std::size_t>(pieceCount_) + 1, 0);
  forEachUse([&](std::size_t piece, const Toucher&) { ++uses.pieceBegin[piece + 1]; });
  std::partial_sum(uses.pieceBegin.begin(), uses.pieceBegin.end(), uses.pieceBegin.begin());
  uses.byPiece.resize(uses.byTask.size());
  std::vector<std::int32_t> at(uses.pieceBegin.begin(), std::prev(uses.pieceBegin.end()));
  forEachUse([&](std::size_t piece, const Toucher& toucher) {
    uses.byPiece[static_cast<std::size_t>(at[piece]++)] = toucher;
  });
}

void DevicePaging::noteLives(Uses& uses) const {
  uses.dies.assign(static_cast<std::size_t>(pieceCount_), 0);
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
  for (const Place& place : places_) {
    if (place.pager == nullptr) continue;
    for (std::size_t n = 0; n < data_.gathers()[plan_].size(); ++n) {
      if (!place.side.store.hasGather(plan_, n)) continue;
      const std::int32_t piece =
          place.firstPiece + place.pager->pieceAt(place.side.store.gatherMemory(plan_, n));
      uses.dies[static_cast<std::size_t>(piece)] = 1;
      uses.unborn.push_back(piece);
    }
  }
}

/// New is what Old was a step ago, or a variable of one generation that this plan writes before it reads it.
/// Old ends with its readers where New takes its place.
void DevicePaging::noteLife(Uses& uses, LabelId label, std::int32_t local, bool isWritten) const {
  const Place& place = homeOf(local);
  if (place.pager == nullptr || !place.side.store.has(label, static_cast<std::size_t>(local))) return;
  const std::int32_t old = place.firstPiece + pieceOf(place, Generation::Old, label, local);
  const std::int32_t next = place.firstPiece + pieceOf(place, Generation::New, label, local);
  const auto n = static_cast<std::size_t>(next);
  if (old != next) {
    uses.unborn.push_back(next);
    if (isWritten) uses.dies[static_cast<std::size_t>(old)] = 1;
  } else if (uses.pieceBegin[n] < uses.pieceBegin[n + 1]) {
    uses.unborn.push_back(next);
  }
}

void DevicePaging::addNode(Touched& touched, std::int32_t node) const {
  const PlacedBlock& placed = placed_.block(node);
  const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(placed.block)];
  const std::int32_t number = placed_.numberOf(node);
  const Place& place = places_[static_cast<std::size_t>(placed.place)];
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
    const bool elsewhere =
        access.item >= 0 && placed_.packPlaces[static_cast<std::size_t>(access.item)] != place.side.slot;
    if (elsewhere) return;
    if (access.memory.in == MoveRef::In::Gather)
      addGather(touched, place, access.memory.number, pieceAccessOf(access));
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

/// A value lies on the device of its patch, whoever reads it.
void DevicePaging::add(Touched& touched, Generation generation, LabelId label, std::int32_t local,
                       PieceAccess access) const {
  const Place& place = homeOf(local);
  if (place.pager != nullptr) touch(touched, place, pieceOf(place, generation, label, local), access);
}

/// A buffer lies on the device that gathers there.
void DevicePaging::addGather(Touched& touched, const Place& place, std::int32_t buffer,
                             PieceAccess access) const {
  if (place.pager == nullptr) return;
  const void* memory = place.side.store.gatherMemory(plan_, static_cast<std::size_t>(buffer));
  touch(touched, place, place.pager->pieceAt(memory), access);
}

void DevicePaging::touch(Touched& touched, const Place& place, std::int32_t piece, PieceAccess access) const {
  std::vector<PieceUse>& there = touched[static_cast<std::size_t>(place.side.slot)];
  const auto known =
      std::find_if(there.begin(), there.end(), [&](const PieceUse& use) { return use.piece == piece; });
  if (known == there.end()) {
    there.push_back({piece, access});
  } else if (known->access != access) {
    known->access = PieceAccess::Change;
  }
}

}  // namespace tessera::detail
