#include "scheduler/step/host_moves.hpp"

#include <algorithm>
#include <cstring>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/coded_condition.hpp"
#include "scheduler/step/scratch_windows.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {
namespace {

std::uint64_t hashOf(std::span<const RegionOp> ops) {
  std::uint64_t hash = ops.size();
  const auto mix = [&](std::int64_t v) {
    hash = (hash ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  for (const RegionOp& op : ops) {
    for (const std::int64_t v : {op.toFirst, op.fromFirst, std::int64_t{op.rowWords}, std::int64_t{op.rows}})
      mix(v);
  }
  return hash;
}

/// Copies come before all others, and the first of them is that of the patch itself, which a task asks for
/// last.
PrefetchList fetchesOf(std::span<const RegionOp> ops) {
  std::vector<RegionOp> copies(ops.begin(), ops.end());
  std::erase_if(copies, [](const RegionOp& op) { return op.kind != RegionKind::Copy; });
  std::rotate(copies.begin(), copies.begin() + 1, copies.end());
  return PrefetchList(copies);
}

}  // namespace

HostMoves::HostMoves(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data,
                     const MessagePump& pump)
    : moves_(graphs, plan), plan_(plan), data_(data), pump_(pump) {
  settleFills();
  settleMessages();
  known_.clear();
}

void HostMoves::settleFills() {
  rows_.resize(moves_.graph().fills.size());
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const auto fill = static_cast<std::int32_t>(n);
    const std::int32_t rows = moves_.rowCount(fill);
    rows_[n].reserve(static_cast<std::size_t>(rows));
    for (std::int32_t row = 0; row < rows; ++row)
      rows_[n].push_back(rowFrom(fill, row, moves_.ofRow(fill, row)));
  }
}

void HostMoves::settleMessages() {
  for (std::size_t send = 0; send < moves_.graph().sends.size(); ++send) {
    const auto first = static_cast<std::size_t>(moves_.graph().sends[send].items.begin);
    const std::vector<Move> moves = moves_.ofMessage(static_cast<std::int32_t>(send));
    packed_.resize(std::max(packed_.size(), first + moves.size()));
    for (std::size_t n = 0; n < moves.size(); ++n)
      packed_[first + n] = {operationOf(moves[n], {}), fromOf(moves[n].from)};
  }
}

HostMoves::Row HostMoves::rowFrom(std::int32_t fill, std::int32_t row, std::span<const Move> moves) {
  if (moves.empty()) return {};
  const Layout scratch = scratchLayoutOf(fill, row);
  const Layout target = layoutOf(moves.front().to, moves.front().label, scratch);
  Row made{kNothing, std::ssize(from_)};
  List list;
  for (const Move& move : moves) {
    if (move.what.region.empty()) continue;
    if (move.what.kind == MoveKind::Condition) {
      addConditions(list, move, target);
      continue;
    }
    list.ops.push_back(operationOf(move, scratch));
    from_.push_back(fromOf(move.from));
  }
  list.scratch = moves.front().to.in == MoveRef::In::Scratch;
  if (!list.ops.empty()) made.list = numberOf(std::move(list));
  return made;
}

void HostMoves::addConditions(List& list, const Move& move, const Layout& target) {
  const LabelInfo& info = moves_.graphs().labels->info(move.label);
  forEachCondition(info, move.what.side, [&](const ConditionNumber& which) {
    list.ops.push_back(
        conditionOp(move.what, which, target, info, moves_.graphs().hierarchy->level(move.level)));
    list.borders.push_back({move.what.region.lo - target.window.lo, move.what.side, which});
    from_.push_back(kTarget);
  });
  if (!info.coded[static_cast<std::size_t>(move.what.side)]) return;
  const Box& region = move.what.region;
  RegionOp op;
  op.kind = RegionKind::Given;
  list.ops.push_back(op);
  list.borders.push_back({region.lo - target.window.lo, move.what.side, kCoded, region.extent()});
  from_.push_back(kTarget);
}

HostMoves::From HostMoves::fromOf(const MoveRef& from) {
  if (from.in == MoveRef::In::Received) return -2 - from.number;
  if (from.in == MoveRef::In::Gather) return kGathers + from.number;
  TESSERA_EXPECT(from.in == MoveRef::In::Entry, "move from own patches, messages and gathers");
  return from.number;
}

Layout HostMoves::scratchLayoutOf(std::int32_t number, std::int32_t row) const {
  const FillPlan& fill = moves_.graph().fills[static_cast<std::size_t>(number)];
  return fill.scratch ? scratchLayout(moves_.graphs(), fill, row).layout : Layout{};
}

Layout HostMoves::layoutOf(const MoveRef& ref, LabelId label, const Layout& scratch) const {
  switch (ref.in) {
    case MoveRef::In::Entry:
      return data_.layout(label, static_cast<std::size_t>(ref.number));
    case MoveRef::In::Gather:
      return data_.gatherLayout(plan_, static_cast<std::size_t>(ref.number));
    case MoveRef::In::Scratch:
      return scratch;
    case MoveRef::In::Received:
    case MoveRef::In::Sent:
      break;
  }
  return {ref.box, false, false};
}

RegionOp HostMoves::operationOf(const Move& move, const Layout& scratch) const {
  RegionOp op =
      regionOp(move.what, layoutOf(move.to, move.label, scratch), layoutOf(move.from, move.label, scratch),
               moves_.graphs().labels->info(move.label).type);
  op.toFirst += move.to.offset;
  op.fromFirst += move.from.offset;
  return op;
}

std::int32_t HostMoves::numberOf(List&& list) {
  const std::uint64_t hash = hashOf(list.ops);
  const auto [first, last] = known_.equal_range(hash);
  for (auto k = first; k != last; ++k) {
    if (lists_[static_cast<std::size_t>(k->second)] == list) return k->second;
  }
  const auto number = static_cast<std::int32_t>(lists_.size());
  known_.emplace(hash, number);
  if (list.scratch) list.fetches = fetchesOf(list.ops);
  lists_.push_back(std::move(list));
  return number;
}

HostMoves::Target HostMoves::targetOf(std::int32_t number, std::int32_t row) {
  const FillPlan& fill = moves_.graph().fills[static_cast<std::size_t>(number)];
  if (fill.reach != Reach::Patch) {
    const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
    return {data_.gatherData(plan_, buffer), &data_.gatherLayout(plan_, buffer)};
  }
  // That of a first member for all of its window.
  const Range locals = moves_.graphs().localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
  const auto local = static_cast<std::size_t>(locals.begin + row);
  return {data_.data(fill.generation, fill.label, local), &data_.layout(fill.label, local)};
}

void HostMoves::fill(std::int32_t number, std::int32_t row, double time) {
  const FillPlan& fill = moves_.graph().fills[static_cast<std::size_t>(number)];
  if (fill.scratch || row >= std::ssize(rows_[static_cast<std::size_t>(number)])) return;
  const Target to = targetOf(number, row);
  carryOut(fill, rowOf(number, row), to, time);
}

void HostMoves::gatherScratch(std::int32_t fill, std::int32_t row, double time, std::byte* memory,
                              const Layout& layout) const {
  carryOut(moves_.graph().fills[static_cast<std::size_t>(fill)], rowOf(fill, row), {memory, &layout}, time);
}

void HostMoves::carryOut(const FillPlan& fill, const Row& row, const Target& to, double time) const {
  if (row.list == kNothing) return;
  const List& list = listOf(row);
  const From* from = from_.data() + row.firstFrom;
  const Border* border = list.borders.data();
  for (const RegionOp& op : list.ops) {
    const From source = *from++;
    if (source != kTarget) {
      runRegion(op, to.data, memoryOf(fill.generation, fill.label, source));
      continue;
    }
    carryOut(fill, *border, op, to, time);
    ++border;
  }
}

void HostMoves::carryOut(const FillPlan& fill, const Border& border, const RegionOp& op, const Target& to,
                         double time) const {
  const LabelInfo& info = data_.labels().info(fill.label);
  const Level& level = data_.hierarchy().level(fill.sourceLevel);
  const Index first = to.layout->window.lo + border.first;
  if (border.which == kCoded) {
    const Box region{first, first + Index{border.extent.i, border.extent.j, border.extent.k}};
    info.coded[static_cast<std::size_t>(border.side)]->onHost(
        haloRegion(region, border.side, info, level, to.data, *to.layout, time));
    return;
  }
  ConditionValue value(info, level, border.side, border.which, time);
  runCondition(op, to.data, first, value);
}

void HostMoves::pack(std::int32_t send, std::span<const DeviceAssignment> places) const {
  const CompiledGraph& graph = moves_.graph();
  const Range items = graph.sends[static_cast<std::size_t>(send)].items;
  std::byte* buffer = pump_.sendBuffer(send).data();
  for (std::int64_t n = items.begin; n < items.end; ++n) {
    const auto item = static_cast<std::size_t>(n);
    if (!places.empty() && places[item] != kOnHost) continue;
    const PackItem& what = graph.packItems[item];
    runRegion(packed_[item].op, buffer, memoryOf(what.generation, what.label, packed_[item].from));
  }
}

void HostMoves::unset(const FillPlan& fill, std::int32_t row) {
  if (fill.firstGather < 0) return;
  const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
  const std::int64_t bytes =
      data_.gatherLayout(plan_, buffer).elements() * data_.labels().info(fill.label).type.bytes();
  std::memset(data_.gatherData(plan_, buffer), 0xFF, static_cast<std::size_t>(bytes));
}

void HostMoves::listPrefetches(std::int32_t number, std::int32_t row, std::int32_t local, std::int32_t way,
                               std::vector<PrefetchLines>& lines) const {
  const FillPlan& fill = moves_.graph().fills[static_cast<std::size_t>(number)];
  const Row& known = rowOf(number, row);
  const PrefetchList& fetches = listOf(known).fetches;
  fetches.addTo(lines, [&](std::size_t n) -> const std::byte* {
    const auto next = static_cast<std::int64_t>(n + 1 == fetches.count() ? 0 : n + 1);
    const From source = from_[static_cast<std::size_t>(known.firstFrom + next)];
    // What has come by message was written not long ago.
    if (source < 0 || way * source < way * local) return nullptr;
    return data_.data(fill.generation, fill.label, static_cast<std::size_t>(source));
  });
}

}  // namespace tessera::detail
