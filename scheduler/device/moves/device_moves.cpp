#include "scheduler/device/moves/device_moves.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/condition_values.hpp"
#include "taskgraph/moves/node_access.hpp"

namespace tessera {

/// Tables of a fill while they are made.
struct DeviceMoves::FillLists {
  RegionList moves;
  std::array<RegionList, kAxes> sides;
  std::vector<Timed> timed;
  std::vector<std::int64_t> rowTimed;
  std::vector<std::int64_t> rowValues;
  std::vector<char> isThere;
  std::int64_t valueCount = 0;

  void beginRow() {
    moves.beginRow();
    for (RegionList& side : sides) side.beginRow();
    rowTimed.push_back(std::ssize(timed));
    rowValues.push_back(valueCount);
  }
};

DeviceMoves::DeviceMoves(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                         DeviceStore& store, const MessageBuffers& pump, DeviceBackend& device,
                         DevicePool& memory, DevicePool& pinned, IsOnDevice isOnDevice, StoreOf storeOf)
    : moves_(graphs, plan),
      graphs_(graphs),
      graph_(graphs.plans[plan]),
      plan_(plan),
      data_(data),
      store_(store),
      pump_(pump),
      device_(device),
      memory_(memory),
      pinned_(pinned),
      isOnDevice_(std::move(isOnDevice)),
      storeOf_(std::move(storeOf)),
      fills_(graph_.fills.size()) {
  for (const FillPlan& fill : graph_.fills) {
    const auto isReceived = [](const CoarsePiece& piece) { return piece.message >= 0; };
    fromMessages_.push_back(fill.pieces.itemCount() > 0 ||
                            std::any_of(fill.coarse.pool.begin(), fill.coarse.pool.end(), isReceived));
  }
  if (store.space() == deviceSlot(0)) messages_.emplace(device, pump.pages());
}

bool DeviceMoves::isLaunched(const FillPlan& fill) const {
  // Where the patches of a whole level share a window, that is what is read.
  if (fill.reach == Reach::WholeLevel && fill.shared.size() > 0) return false;
  TESSERA_EXPECT(!fill.scratch, "store the halos of variables that a device has (CompileInput::storedHalos)");
  return true;
}

void DeviceMoves::launchFill(std::int32_t fill, std::span<const std::int32_t> rows, double time,
                             DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  if (!isLaunched(plan)) return;
  FillTables& tables = tablesOf(fill, stream);
  for (const std::int32_t row : rows) {
    TESSERA_EXPECT(tables.isThere[static_cast<std::size_t>(row)] != 0,
                   "add all that a fill reads and writes to the store before it is launched first");
  }
  counts_.regions += tables.moves.launch(stream, "Fill::move", rows);
  const KeptValues given = valuesFor(plan, tables, rows, stream);
  evaluateRows(plan, tables, rows, time, given);
  for (RegionTable& side : tables.sides) {
    counts_.regions += side.launch(stream, "Fill::conditions", rows, given.values);
  }
  giveValues(given, stream);
}

DeviceMoves::KeptValues DeviceMoves::keepValues(std::int32_t fill, std::span<const std::int32_t> rows,
                                                DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  return isLaunched(plan) ? valuesFor(plan, tablesOf(fill, stream), rows, stream) : KeptValues{};
}

void DeviceMoves::giveValues(const KeptValues& kept, DeviceStream stream) {
  if (kept.memory != nullptr) pinned_.free(stream, kept.memory);
}

void DeviceMoves::evaluate(std::int32_t fill, std::span<const std::int32_t> rows, double time,
                           const KeptValues& kept) {
  if (kept.memory == nullptr) return;
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  evaluateRows(plan, fills_[static_cast<std::size_t>(fill)].at(configurationOfTables(fill)), rows, time,
               kept);
}

void DeviceMoves::captureFill(std::int32_t fill, std::span<const std::int32_t> rows, const KeptValues& kept,
                              DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  if (!isLaunched(plan)) return;
  FillTables& tables = tablesOf(fill, stream);
  counts_.regions += tables.moves.launch(stream, "Fill::move", rows);
  for (RegionTable& side : tables.sides) {
    counts_.regions += side.launch(stream, "Fill::conditions", rows, kept.values);
  }
}

DeviceMoves::KeptValues DeviceMoves::valuesFor(const FillPlan& fill, const FillTables& tables,
                                               std::span<const std::int32_t> rows, DeviceStream stream) {
  KeptValues given;
  if (tables.timed.empty() || rows.empty()) return given;
  const auto [lowest, highest] = std::minmax_element(rows.begin(), rows.end());
  const std::int64_t first = tables.rowValues[static_cast<std::size_t>(*lowest)];
  const std::int64_t count = tables.rowValues[static_cast<std::size_t>(*highest) + 1] - first;
  if (count == 0) return given;
  given.memory = pinned_.allocate(stream, count * static_cast<std::int64_t>(sizeof(double)),
                                  "values of conditions of " + info(fill.label).name);
  given.values = {static_cast<double*>(given.memory), first};
  return given;
}

void DeviceMoves::evaluateRows(const FillPlan& fill, const FillTables& tables,
                               std::span<const std::int32_t> rows, double time, const KeptValues& kept) {
  if (kept.memory == nullptr) return;
  const std::int64_t first = kept.values.first;
  for (const std::int32_t row : rows) {
    evaluateRow(fill, tables, row, time, static_cast<double*>(kept.memory), first);
    const auto r = static_cast<std::size_t>(row);
    counts_.valuesGiven += tables.rowValues[r + 1] - tables.rowValues[r];
  }
}

void DeviceMoves::evaluateRow(const FillPlan& fill, const FillTables& tables, std::int32_t row, double time,
                              double* values, std::int64_t first) const {
  const auto r = static_cast<std::size_t>(row);
  for (std::int64_t n = tables.rowTimed[r]; n < tables.rowTimed[r + 1]; ++n) {
    const Timed& timed = tables.timed[static_cast<std::size_t>(n)];
    const auto count = static_cast<std::size_t>(timed.region.volume());
    conditionValues(info(fill.label), level(fill), timed.side, timed.region, time,
                    {values + (timed.first - first), count});
  }
}

DeviceMoves::BufferConfiguration DeviceMoves::configurationOfTables(std::int32_t fill) const {
  BufferConfiguration configuration = configurationOf(graph_.fills[static_cast<std::size_t>(fill)]);
  if (fromMessages_[static_cast<std::size_t>(fill)]) configuration.push_back(pump_.parity());
  return configuration;
}

DeviceMoves::FillTables& DeviceMoves::tablesOf(std::int32_t fill, DeviceStream stream) {
  auto& known = fills_[static_cast<std::size_t>(fill)];
  const BufferConfiguration configuration = configurationOfTables(fill);
  const auto found = known.find(configuration);
  if (found != known.end()) return found->second;
  return known.emplace(configuration, makeTables(fill, stream)).first->second;
}

DeviceMoves::FillTables DeviceMoves::makeTables(std::int32_t fill, DeviceStream stream) {
  FillLists lists;
  for (std::int32_t row = 0; row < moves_.rowCount(fill); ++row) {
    lists.beginRow();
    std::vector<Move> moves = moves_.ofRow(fill, row);
    const bool there = isThere(moves);
    lists.isThere.push_back(there ? 1 : 0);
    if (there) addMoves(lists, moves);
  }
  lists.rowTimed.push_back(std::ssize(lists.timed));
  lists.rowValues.push_back(lists.valueCount);
  const std::string owner = "fills of " + info(graph_.fills[static_cast<std::size_t>(fill)].label).name;
  FillTables tables;
  tables.moves = upload(lists.moves, stream, owner);
  for (std::size_t axis = 0; axis < tables.sides.size(); ++axis) {
    tables.sides[axis] = upload(lists.sides[axis], stream, owner);
  }
  tables.timed = std::move(lists.timed);
  tables.rowTimed = std::move(lists.rowTimed);
  tables.rowValues = std::move(lists.rowValues);
  tables.isThere = std::move(lists.isThere);
  return tables;
}

RegionTable DeviceMoves::upload(const RegionList& list, DeviceStream stream, const std::string& owner) {
  RegionTable table(device_, memory_, pinned_, stream, list, owner);
  counts_.bytesUploaded += table.bytes();
  return table;
}

bool DeviceMoves::takesFromPeers(std::int32_t fill, std::int32_t row) const {
  if (!isLaunched(graph_.fills[static_cast<std::size_t>(fill)])) return false;
  bool takes = false;
  forEachAccessOfRow(moves_, fill, row, [&](const NodeAccess& access) {
    const bool reads = access.memory.in == MoveRef::In::Entry && access.how == NodeAccess::How::Read;
    takes = takes || (reads && &sourceOf(access.memory.number) != &store_);
  });
  return takes;
}

bool DeviceMoves::isThere(std::span<const Move> moves) const {
  return std::all_of(moves.begin(), moves.end(), [this](const Move& move) {
    return isThere(move.to, move.label) && isThere(move.from, move.label);
  });
}

bool DeviceMoves::isThere(const MoveRef& ref, LabelId label) const {
  const auto number = static_cast<std::size_t>(ref.number);
  if (ref.in == MoveRef::In::Entry) return sourceOf(ref.number).has(label, number);
  return ref.in != MoveRef::In::Gather || store_.hasGather(plan_, number);
}

DeviceMoves::End DeviceMoves::endOf(const MoveRef& ref, const Move& move) const {
  const auto number = static_cast<std::size_t>(ref.number);
  switch (ref.in) {
    case MoveRef::In::Entry: {
      const DeviceStore& store = sourceOf(ref.number);
      return {store.data(move.generation, move.label, number), store.layout(move.label, number)};
    }
    case MoveRef::In::Gather:
      return {store_.gatherData(plan_, number), store_.gatherLayout(plan_, number)};
    case MoveRef::In::Received:
      // The device reads there, and no more.
      return {const_cast<std::byte*>(pump_.receiveBuffer(ref.number).data()) + ref.offset,
              Layout(ref.box, false, false)};
    case MoveRef::In::Sent:
      return {pump_.sendBuffer(ref.number).data() + ref.offset, Layout(ref.box, false, false)};
    case MoveRef::In::Scratch:
      break;
  }
  TESSERA_EXPECT(false, "store the halos of variables that a device has (CompileInput::storedHalos)");
  return {};
}

void DeviceMoves::add(RegionList& list, const Move& move, const RegionValues& values) const {
  const End to = endOf(move.to, move);
  const End from = endOf(move.from, move);
  std::int64_t RegionCounts::*counted = &RegionCounts::copied;
  if (move.what.kind == MoveKind::Condition) {
    counted = &RegionCounts::conditions;
  } else if (move.what.kind != MoveKind::Copy) {
    counted = &RegionCounts::prolonged;
  } else if (move.from.in == MoveRef::In::Received) {
    counted = &RegionCounts::unpacked;
  } else if (move.to.in == MoveRef::In::Sent) {
    counted = &RegionCounts::packed;
  }
  list.add(regionOp(move.what, to.layout, from.layout, info(move.label), data_.hierarchy().level(move.level)),
           to.data, from.data, counted, values);
}

void DeviceMoves::addMoves(FillLists& lists, std::vector<Move>& moves) const {
  pairRowEnds(lists.moves, moves);
  for (const Move& move : moves) {
    if (move.what.region.empty()) continue;
    if (move.what.kind == MoveKind::Condition) {
      addCondition(lists, move);
    } else {
      add(lists.moves, move);
    }
  }
}

/// What begins rows of a window and what ends them goes together, where that spares the device half of its
/// writes. Between the rows of a window of several patches lies what others own.
void DeviceMoves::pairRowEnds(RegionList& list, std::vector<Move>& moves) const {
  if (moves.empty() || moves.front().to.in != MoveRef::In::Entry ||
      info(moves.front().label).type.bytes() != 8 ||
      data_.isShared(moves.front().label, static_cast<std::size_t>(moves.front().to.number))) {
    return;
  }
  const End to = endOf(moves.front().to, moves.front());
  const auto mayPair = [](const Move& move) {
    return move.what.kind == MoveKind::Copy && move.from.in == MoveRef::In::Entry &&
           !move.what.region.empty();
  };
  for (Move& begins : moves) {
    if (!mayPair(begins) || begins.what.region.lo.i != to.layout.window.lo.i) continue;
    const End left = endOf(begins.from, begins);
    for (Move& ends : moves) {
      if (&ends == &begins || !mayPair(ends) || ends.what.region.hi.i != to.layout.window.hi.i) continue;
      const End right = endOf(ends.from, ends);
      if (!list.copyRowEnds(to.data, to.layout,
                            {left.data, &left.layout, begins.what.region, begins.what.shift},
                            {right.data, &right.layout, ends.what.region, ends.what.shift})) {
        continue;
      }
      begins.what.region = {};
      ends.what.region = {};
      break;
    }
  }
}

void DeviceMoves::addCondition(FillLists& lists, const Move& move) const {
  const LabelInfo& label = info(move.label);
  const int side = move.what.side;
  const auto& condition = label.boundary.sides[static_cast<std::size_t>(side)];
  TESSERA_EXPECT(condition.has_value(), "give the side a condition");
  RegionList& list = lists.sides[static_cast<std::size_t>(side / 2)];
  RegionValues values;
  Box region = move.what.region;
  if (!condition->value.dependsOnPosition()) region.hi = region.lo + Index{1, 1, 1};
  if (condition->value.dependsOnPosition()) values.count = RegionValues::Count::OneEachIndex;
  if (condition->kind != BoundaryKind::Outflow && condition->value.dependsOnTime()) {
    values.of = RegionValues::Of::Launch;
    values.first = lists.valueCount;
    lists.timed.push_back({side, region, lists.valueCount});
    lists.valueCount += region.volume();
  } else if (condition->kind != BoundaryKind::Outflow) {
    std::vector<double> constant(static_cast<std::size_t>(region.volume()));
    conditionValues(label, data_.hierarchy().level(move.level), side, region, 0.0, constant);
    values.first = list.addValues(constant);
  }
  add(list, move, values);
}

std::int32_t DeviceMoves::descriptionOf(Generation generation, LabelId label, LevelId number) const {
  // Entries of a variable on a level swap their generations together, so one of them tells.
  const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(number)];
  for (std::int64_t local = locals.begin; local < locals.end; ++local) {
    const auto own = static_cast<std::size_t>(local);
    if (data_.has(label, own)) return data_.descriptionOf(generation, label, own);
  }
  return -1;
}

DeviceMoves::BufferConfiguration DeviceMoves::configurationOf(const FillPlan& fill) const {
  BufferConfiguration configuration{descriptionOf(fill.generation, fill.label, fill.sourceLevel)};
  if (fill.sourceLevel > 0) {
    configuration.push_back(descriptionOf(fill.generation, fill.label, fill.sourceLevel - 1));
  }
  return configuration;
}

void DeviceMoves::launchPack(std::span<const std::int32_t> sends, DeviceStream stream) {
  if (packed_.empty()) listPacked();
  const BufferConfiguration configuration = configurationOfPacks();
  auto found = packs_.find(configuration);
  if (found == packs_.end()) found = packs_.emplace(configuration, makePacks(stream)).first;
  counts_.regions += found->second.launch(stream, "Fill::pack", sends);
}

bool DeviceMoves::isPicked(const PackItem& item) const {
  if (item.source < 0) return false;
  if (isOnDevice_) return isOnDevice_(item);
  return store_.has(item.label, static_cast<std::size_t>(item.source));
}

void DeviceMoves::listPacked() {
  const auto levelOf = [&](const PackItem& item) { return ownPatch(item.source).level; };
  for (const PackItem& item : graph_.packItems) {
    if (!isPicked(item)) continue;
    const bool known = std::any_of(packed_.begin(), packed_.end(), [&](const PackItem& other) {
      return other.label == item.label && other.generation == item.generation &&
             levelOf(other) == levelOf(item);
    });
    if (!known) packed_.push_back(item);
  }
}

DeviceMoves::BufferConfiguration DeviceMoves::configurationOfPacks() const {
  BufferConfiguration configuration{pump_.parity()};
  for (const PackItem& item : packed_) {
    configuration.push_back(
        data_.descriptionOf(item.generation, item.label, static_cast<std::size_t>(item.source)));
  }
  return configuration;
}

RegionTable DeviceMoves::makePacks(DeviceStream stream) {
  RegionList list;
  for (std::size_t send = 0; send < graph_.sends.size(); ++send) {
    list.beginRow();
    const std::vector<Move> moves = moves_.ofMessage(static_cast<std::int32_t>(send));
    for (std::size_t n = 0; n < moves.size(); ++n) {
      const auto item = static_cast<std::size_t>(graph_.sends[send].items.begin) + n;
      if (!isPicked(graph_.packItems[item])) continue;
      TESSERA_EXPECT(isThere(moves[n].from, moves[n].label), "add what is packed on the device to its store");
      add(list, moves[n]);
    }
  }
  return upload(list, stream, "packing of messages");
}

void DeviceMoves::launchCopy(CopyTo to, LabelId label, Generation generation,
                             std::span<const std::int32_t> locals, DeviceStream stream) {
  if (locals.empty()) return;
  const LevelId number = ownPatch(locals.front()).level;
  const std::array<std::int32_t, 4> key{to == CopyTo::Device ? 1 : 0, label, number,
                                        descriptionOf(generation, label, number)};
  auto found = copies_.find(key);
  if (found == copies_.end()) {
    found = copies_.emplace(key, makeCopies(to, label, generation, number, stream)).first;
  }
  CopyTable& copies = found->second;
  rows_.clear();
  for (const std::int32_t local : locals) {
    const std::int32_t row = local - firstLocal(number);
    TESSERA_EXPECT(row >= 0 && row < std::ssize(copies.isThere), "copy patches of one level at once");
    TESSERA_EXPECT(copies.isThere[static_cast<std::size_t>(row)] != 0,
                   "add all that is copied to the store before it is copied first");
    rows_.push_back(row);
  }
  const RegionCounts counts = copies.table.launch(stream, "Fill::copy", rows_);
  (to == CopyTo::Device ? counts_.copiedIn : counts_.copiedOut) += counts.copied;
  counts_.copyLaunches += counts.launches;
}

DeviceMoves::CopyTable DeviceMoves::makeCopies(CopyTo to, LabelId label, Generation generation,
                                               LevelId number, DeviceStream stream) {
  CopyTable made;
  RegionList list;
  const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(number)];
  for (std::int64_t local = locals.begin; local < locals.end; ++local) {
    const auto own = static_cast<std::size_t>(local);
    list.beginRow();
    made.isThere.push_back(store_.has(label, own) ? 1 : 0);
    if (made.isThere.back() == 0) continue;
    std::byte* host = data_.data(generation, label, own);
    std::byte* there = store_.data(generation, label, own);
    const Box owned = data_.ownedBox(label, own);
    const std::int64_t bytes = info(label).type.bytes();
    const Layout& hostLayout = data_.layout(label, own);
    const Layout& layout = store_.layout(label, own);
    if (to == CopyTo::Device) {
      list.add(copyOp(layout, hostLayout, owned, {}, bytes), there, host, &RegionCounts::copied);
    } else {
      list.add(copyOp(hostLayout, layout, owned, {}, bytes), host, there, &RegionCounts::copied);
    }
  }
  made.table = upload(list, stream, "copies of " + info(label).name);
  return made;
}

}  // namespace tessera
