#include "scheduler/device/moves/device_fills.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/boundary_fill.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera {

/// Tables of a fill while they are made.
struct DeviceFills::FillLists {
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

DeviceFills::DeviceFills(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                         DeviceStore& store, const MessageBuffers& pump, DeviceBackend& device,
                         DevicePool& memory, DevicePool& pinned, IsOnDevice isOnDevice, StoreOf storeOf)
    : graphs_(graphs),
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
      shared_(graphs, plan),
      fills_(graph_.fills.size()) {
  for (const FillPlan& fill : graph_.fills) {
    const auto isReceived = [](const CoarsePiece& piece) { return piece.message >= 0; };
    fromMessages_.push_back(fill.pieces.itemCount() > 0 ||
                            std::any_of(fill.coarse.pool.begin(), fill.coarse.pool.end(), isReceived));
  }
  if (store.space() == deviceSlot(0)) messages_.emplace(device, pump.pages());
}

bool DeviceFills::isLaunched(const FillPlan& fill) const {
  // Where the patches of a whole level share a window, that is what is read.
  if (fill.reach == Reach::WholeLevel && fill.shared.size() > 0) return false;
  TESSERA_EXPECT(!fill.scratch, "store the halos of variables that a device has (CompileInput::storedHalos)");
  return true;
}

void DeviceFills::launchFill(std::int32_t fill, std::span<const std::int32_t> rows, double time,
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

DeviceFills::KeptValues DeviceFills::keepValues(std::int32_t fill, std::span<const std::int32_t> rows,
                                                DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  return isLaunched(plan) ? valuesFor(plan, tablesOf(fill, stream), rows, stream) : KeptValues{};
}

void DeviceFills::giveValues(const KeptValues& kept, DeviceStream stream) {
  if (kept.memory != nullptr) pinned_.free(stream, kept.memory);
}

void DeviceFills::evaluate(std::int32_t fill, std::span<const std::int32_t> rows, double time,
                           const KeptValues& kept) {
  if (kept.memory == nullptr) return;
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  evaluateRows(plan, fills_[static_cast<std::size_t>(fill)].at(configurationOfTables(fill)), rows, time,
               kept);
}

void DeviceFills::captureFill(std::int32_t fill, std::span<const std::int32_t> rows, const KeptValues& kept,
                              DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  if (!isLaunched(plan)) return;
  FillTables& tables = tablesOf(fill, stream);
  counts_.regions += tables.moves.launch(stream, "Fill::move", rows);
  for (RegionTable& side : tables.sides) {
    counts_.regions += side.launch(stream, "Fill::conditions", rows, kept.values);
  }
}

DeviceFills::KeptValues DeviceFills::valuesFor(const FillPlan& fill, const FillTables& tables,
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

void DeviceFills::evaluateRows(const FillPlan& fill, const FillTables& tables,
                               std::span<const std::int32_t> rows, double time, const KeptValues& kept) {
  if (kept.memory == nullptr) return;
  const std::int64_t first = kept.values.first;
  for (const std::int32_t row : rows) {
    evaluateRow(fill, tables, row, time, static_cast<double*>(kept.memory), first);
    const auto r = static_cast<std::size_t>(row);
    counts_.valuesGiven += tables.rowValues[r + 1] - tables.rowValues[r];
  }
}

void DeviceFills::evaluateRow(const FillPlan& fill, const FillTables& tables, std::int32_t row, double time,
                              double* values, std::int64_t first) const {
  const auto r = static_cast<std::size_t>(row);
  for (std::int64_t n = tables.rowTimed[r]; n < tables.rowTimed[r + 1]; ++n) {
    const Timed& timed = tables.timed[static_cast<std::size_t>(n)];
    const auto count = static_cast<std::size_t>(timed.region.volume());
    conditionValues(info(fill.label), level(fill), timed.side, timed.region, time,
                    {values + (timed.first - first), count});
  }
}

DeviceFills::BufferConfiguration DeviceFills::configurationOfTables(std::int32_t fill) const {
  BufferConfiguration configuration = configurationOf(graph_.fills[static_cast<std::size_t>(fill)]);
  if (fromMessages_[static_cast<std::size_t>(fill)]) configuration.push_back(pump_.parity());
  return configuration;
}

DeviceFills::FillTables& DeviceFills::tablesOf(std::int32_t fill, DeviceStream stream) {
  auto& known = fills_[static_cast<std::size_t>(fill)];
  const BufferConfiguration configuration = configurationOfTables(fill);
  const auto found = known.find(configuration);
  if (found != known.end()) return found->second;
  return known.emplace(configuration, makeTables(fill, stream)).first->second;
}

DeviceFills::FillTables DeviceFills::makeTables(std::int32_t fill, DeviceStream stream) {
  const FillPlan& plan = graph_.fills[static_cast<std::size_t>(fill)];
  const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(plan.readerLevel)];
  const std::int64_t rows = plan.reach == Reach::WholeLevel ? 1 : locals.size();
  FillLists lists;
  for (std::int32_t row = 0; row < rows; ++row) {
    lists.beginRow();
    const bool there = isRowThere(fill, row);
    lists.isThere.push_back(there ? 1 : 0);
    if (there) addRow(lists, fill, row);
  }
  lists.rowTimed.push_back(std::ssize(lists.timed));
  lists.rowValues.push_back(lists.valueCount);
  const std::string owner = "fills of " + info(plan.label).name;
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

RegionTable DeviceFills::upload(const RegionList& list, DeviceStream stream, const std::string& owner) {
  RegionTable table(device_, memory_, pinned_, stream, list, owner);
  counts_.bytesUploaded += table.bytes();
  return table;
}

std::vector<std::int32_t> DeviceFills::sourcesOf(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  std::vector<std::int32_t> sources;
  const auto addPiece = [&](const CoarsePiece& piece) {
    if (piece.source >= 0) sources.push_back(piece.source);
  };
  if (shared_.has(static_cast<std::size_t>(number), row)) {
    const detail::SharedGather* gather = shared_.workOf(static_cast<std::size_t>(number), row);
    if (gather == nullptr) return sources;  // the first member of the window does its work
    for (const auto& copy : gather->copies) sources.push_back(copy.source);
    for (const auto& coarse : gather->coarse) addPiece(*coarse.piece);
    return sources;
  }
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(row))
    sources.push_back(n.source);
  for (const CoarsePiece& piece : fill.coarse.row(row)) addPiece(piece);
  return sources;
}

bool DeviceFills::takesFromPeers(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  if (!isLaunched(fill)) return false;
  const std::vector<std::int32_t> sources = sourcesOf(number, fill.reach == Reach::WholeLevel ? 0 : row);
  return std::any_of(sources.begin(), sources.end(),
                     [this](std::int32_t local) { return &sourceOf(local) != &store_; });
}

bool DeviceFills::isTargetThere(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  const auto n = static_cast<std::size_t>(number);
  if (shared_.has(n, row)) {
    const detail::SharedGather* gather = shared_.workOf(n, row);
    if (gather == nullptr) return true;
    const auto first = static_cast<std::size_t>(gather->shared->members.front());
    return sourceOf(gather->shared->members.front()).has(fill.label, first);
  }
  if (fill.reach != Reach::Patch)
    return store_.hasGather(plan_, static_cast<std::size_t>(fill.firstGather + row));
  const std::int32_t local = firstLocal(fill.readerLevel) + row;
  return sourceOf(local).has(fill.label, static_cast<std::size_t>(local));
}

bool DeviceFills::isRowThere(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  const std::vector<std::int32_t> sources = sourcesOf(number, row);
  return isTargetThere(number, row) && std::all_of(sources.begin(), sources.end(), [&](std::int32_t local) {
           return sourceOf(local).has(fill.label, static_cast<std::size_t>(local));
         });
}

void DeviceFills::addRow(FillLists& lists, std::int32_t number, std::int32_t row) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(number)];
  if (fill.reach == Reach::WholeLevel) return addLevel(lists, fill);
  if (shared_.has(static_cast<std::size_t>(number), row)) {
    const detail::SharedGather* gather = shared_.workOf(static_cast<std::size_t>(number), row);
    if (gather != nullptr) addShared(lists, fill, *gather);
    return;
  }
  addPrivateRow(lists, fill, row);
}

DeviceFills::Destination DeviceFills::destinationOf(const FillPlan& fill, std::int32_t row) const {
  if (fill.reach == Reach::Patch) {
    const auto local = static_cast<std::size_t>(firstLocal(fill.readerLevel) + row);
    return {store_.data(fill.generation, fill.label, local), &store_.layout(fill.label, local), true};
  }
  const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
  return {store_.gatherData(plan_, buffer), &store_.gatherLayout(plan_, buffer)};
}

void DeviceFills::addPrivateRow(FillLists& lists, const FillPlan& fill, std::int32_t row) {
  const Centering centering = info(fill.label).centering;
  const Destination to = destinationOf(fill, row);
  const Patch seen = seenPatch(data_.hierarchy(), ownPatch(firstLocal(fill.readerLevel) + row), fill.reach);
  const Box target = fillTarget(level(fill), seen, centering, fill.halo, fill.reach);
  std::vector<Copied> copies;
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(row)) {
    const Index period{n.image[0], n.image[1], n.image[2]};
    copies.push_back({n.source, sourceRegion(level(fill), ownPatch(n.source), centering, target, period),
                      shiftOf(level(fill), period)});
  }
  addCopies(lists, fill, to, copies);
  addPieces(lists, fill, row, to);
  for (const CoarsePiece& piece : fill.coarse.row(row)) addCoarse(lists, fill, piece, piece.region, to);
  const BoundaryParts found = boundaryParts(level(fill), centering, target);
  for (int n = 0; n < found.count; ++n)
    addCondition(lists, fill, found.parts[static_cast<std::size_t>(n)], to);
}

void DeviceFills::addLevel(FillLists& lists, const FillPlan& fill) {
  const Centering centering = info(fill.label).centering;
  const Box target = level(fill).domainOf(centering);
  const Destination to = destinationOf(fill, 0);
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(0)) {
    addCopy(lists, fill, to, n.source, sourceRegion(level(fill), ownPatch(n.source), centering, target, {}),
            {});
  }
  addPieces(lists, fill, 0, to);
  for (const CoarsePiece& piece : fill.coarse.row(0)) addCoarse(lists, fill, piece, piece.region, to);
}

void DeviceFills::addShared(FillLists& lists, const FillPlan& fill, const detail::SharedGather& gather) {
  const std::vector<std::int32_t>& members = gather.shared->members;
  const auto first = static_cast<std::size_t>(members.front());
  const Destination to{store_.data(fill.generation, fill.label, first), &store_.layout(fill.label, first)};
  for (const detail::SharedGather::Copy& copy : gather.copies)
    addCopy(lists, fill, to, copy.source, copy.region, copy.shift);
  for (const std::int32_t member : members) addPieces(lists, fill, member - gather.firstRow, to);
  for (const detail::SharedGather::Coarse& coarse : gather.coarse)
    addCoarse(lists, fill, *coarse.piece, coarse.region, to);
  // By axis, for all members: a side reads what those of the axes before it have filled, and no others.
  for (const BoundaryPart& part : gather.conditions) addCondition(lists, fill, part, to);
}

void DeviceFills::addCopy(FillLists& lists, const FillPlan& fill, const Destination& to, std::int32_t source,
                          const Box& region, Index shift) {
  const auto from = static_cast<std::size_t>(source);
  const DeviceStore& store = sourceOf(source);
  lists.moves.copy(to.data, *to.layout, store.data(fill.generation, fill.label, from),
                   store.layout(fill.label, from), region, shift, info(fill.label).type.bytes());
}

/// The same for all that a row gets from windows of this rank. What begins rows and what ends them goes
/// together, where that spares the device half of its writes.
void DeviceFills::addCopies(FillLists& lists, const FillPlan& fill, const Destination& to,
                            std::vector<Copied>& copies) {
  const bool mayPair = to.isOneEntry && info(fill.label).type.bytes() == 8;
  const auto endsOf = [&](const Copied& copied) {
    const DeviceStore& store = sourceOf(copied.source);
    const auto from = static_cast<std::size_t>(copied.source);
    return RegionList::RowEnds{store.data(fill.generation, fill.label, from), &store.layout(fill.label, from),
                               copied.region, copied.shift};
  };
  for (Copied& begins : copies) {
    if (begins.region.empty()) continue;
    const auto ends =
        !mayPair ? copies.end() : std::find_if(copies.begin(), copies.end(), [&](Copied& other) {
          return &other != &begins && !other.region.empty() &&
                 lists.moves.copyRowEnds(to.data, *to.layout, endsOf(begins), endsOf(other));
        });
    if (ends == copies.end()) continue;
    begins.region = {};
    ends->region = {};
  }
  for (const Copied& copied : copies) addCopy(lists, fill, to, copied.source, copied.region, copied.shift);
}

void DeviceFills::addPieces(FillLists& lists, const FillPlan& fill, std::int32_t row, const Destination& to) {
  for (const FillPiece& piece : fill.pieces.row(row)) {
    lists.moves.unpack(to.data, *to.layout, piece.region,
                       pump_.receiveBuffer(piece.message).data() + piece.offset,
                       info(fill.label).type.bytes());
  }
}

void DeviceFills::addCoarse(FillLists& lists, const FillPlan& fill, const CoarsePiece& piece,
                            const Box& region, const Destination& to) {
  const std::int64_t bytes = info(fill.label).type.bytes();
  const Extent ratio = level(fill).ratioToCoarser();
  const Index by = shiftOf(level(fill), piece.image);
  if (piece.source >= 0) {
    const auto source = static_cast<std::size_t>(piece.source);
    const DeviceStore& store = sourceOf(piece.source);
    lists.moves.prolong(to.data, *to.layout, store.data(fill.generation, fill.label, source),
                        store.layout(fill.label, source), region, by, ratio, bytes);
    return;
  }
  const Box coarse = coarsen(shift(piece.region, Index{} - by), ratio);
  lists.moves.prolong(to.data, *to.layout, pump_.receiveBuffer(piece.message).data() + piece.offset,
                      Layout(coarse, false, false), region, by, ratio, bytes);
}

void DeviceFills::addCondition(FillLists& lists, const FillPlan& fill, const BoundaryPart& part,
                               const Destination& to) {
  if (part.region.empty()) return;
  const LabelInfo& label = info(fill.label);
  const auto& condition = label.boundary.sides[static_cast<std::size_t>(part.side)];
  TESSERA_EXPECT(condition.has_value(), "give the side a condition");
  RegionList& list = lists.sides[static_cast<std::size_t>(part.side / 2)];
  RegionValues values;
  Box region = part.region;
  if (!condition->value.dependsOnPosition()) region.hi = region.lo + Index{1, 1, 1};
  if (condition->value.dependsOnPosition()) values.count = RegionValues::Count::OneEachIndex;
  if (condition->kind != BoundaryKind::Outflow && condition->value.dependsOnTime()) {
    values.of = RegionValues::Of::Launch;
    values.first = lists.valueCount;
    lists.timed.push_back({part.side, region, lists.valueCount});
    lists.valueCount += region.volume();
  } else if (condition->kind != BoundaryKind::Outflow) {
    std::vector<double> constant(static_cast<std::size_t>(region.volume()));
    conditionValues(label, level(fill), part.side, region, 0.0, constant);
    values.first = list.addValues(constant);
  }
  list.condition(to.data, *to.layout, label, level(fill), part.side, part.region, values);
}

std::int32_t DeviceFills::descriptionOf(Generation generation, LabelId label, LevelId number) const {
  // Entries of a variable on a level swap their generations together, so one of them tells.
  const Range locals = graphs_.localsOfLevel[static_cast<std::size_t>(number)];
  for (std::int64_t local = locals.begin; local < locals.end; ++local) {
    const auto own = static_cast<std::size_t>(local);
    if (data_.has(label, own)) return data_.descriptionOf(generation, label, own);
  }
  return -1;
}

DeviceFills::BufferConfiguration DeviceFills::configurationOf(const FillPlan& fill) const {
  BufferConfiguration configuration{descriptionOf(fill.generation, fill.label, fill.sourceLevel)};
  if (fill.sourceLevel > 0) {
    configuration.push_back(descriptionOf(fill.generation, fill.label, fill.sourceLevel - 1));
  }
  return configuration;
}

}  // namespace tessera
