#include "taskgraph/edges/edge_router.hpp"

#include <algorithm>

namespace tessera::detail {

EdgeRouter::EdgeRouter(const CompiledGraphs& graphs, std::size_t plan, const ValueFlow& flow,
                       const PackedValues& packed, const DeviceAssignments& places,
                       const AddedNodesTable& added, std::span<const DeviceAssignment> homes)
    : graphs_(graphs),
      graph_(graphs.plans[plan]),
      values_(flow),
      packed_(packed),
      places_(places),
      added_(added),
      homes_(homes),
      hasReaders_(graph_.blocks.size(), false),
      flows_(graph_.blocks.size()),
      windows_(graph_.fills.size()) {
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(graph_.blocks.size()); ++b) {
    for (const ValueInput& input : flow.inputs(b))
      hasReaders_[static_cast<std::size_t>(input.producer)] = true;
  }
  if (homes_.empty()) return;
  shared_.assign(static_cast<std::size_t>(graphs.labels->count()),
                 std::vector<bool>(graphs.ownPatches.size(), false));
  for (const SharedWindow& window : graphs.shared) {
    if (haveOneHome(window.members, homes)) continue;
    for (const std::int32_t member : window.members)
      shared_[static_cast<std::size_t>(window.label)][static_cast<std::size_t>(member)] = true;
  }
}

void EdgeRouter::route(std::int32_t from, std::int32_t node, std::vector<Route>& routes) {
  routes.clear();
  const std::int32_t local = block(from).firstLocal + node - block(from).firstNode;
  for (const std::int32_t next : graph_.successors(node)) {
    const auto to = static_cast<std::int32_t>(graph_.blockOf[static_cast<std::size_t>(next)]);
    const Flow& way = flow(from, to);
    if (way.kind == Flow::Kind::Message) {
      routeMessage(from, to, {node, next, firstOf(places_.of(node)), kOnHost, -1}, routes);
      continue;
    }
    forEachInstance(from, node, [&](std::int32_t first, DeviceAssignment here) {
      forEachInstance(to, next, [&](std::int32_t then, DeviceAssignment there) {
        const Route towards{first, then, here, there, -1};
        if (here == there || way.kind == Flow::Kind::Order) {
          routes.push_back(towards);
        } else if (way.kind == Flow::Kind::Value) {
          routeValue(way, towards, local, block(to).firstLocal + next - block(to).firstNode, block(to),
                     routes);
        }
      });
    });
  }
}

template <class Visit>
void EdgeRouter::forEachInstance(std::int32_t block, std::int32_t node, Visit&& visit) const {
  const PlaceSet places = places_.of(node);
  visit(node, firstOf(places));
  const std::int32_t number = node - this->block(block).firstNode;
  forEachPlace(withoutFirst(places), [&](DeviceAssignment place) {
    visit(added_.node(PlacedKind::Twin, block, number, place), place);
  });
}

const EdgeRouter::Flow& EdgeRouter::flow(std::int32_t from, std::int32_t to) {
  Flow& known = flows_[static_cast<std::size_t>(to)];
  if (known.from == from) return known;
  known.from = from;
  known.kind = Flow::Kind::Order;
  known.labels.clear();
  const NodeBlock& first = block(from);
  const NodeBlock& then = block(to);
  if (first.kind == NodeKind::Fill) {
    const bool old = graph_.fills[static_cast<std::size_t>(first.item)].version < 0;
    if (old && readsFill(then, first.item)) known.kind = Flow::Kind::OldFill;
  } else if (first.kind == NodeKind::Task && then.kind == NodeKind::Send) {
    known.kind = Flow::Kind::Message;
  } else if (first.kind == NodeKind::Task) {
    for (const ValueInput& input : values_.inputs(to)) {
      if (input.producer == from) known.labels.push_back(input.label);
    }
    if (!known.labels.empty()) known.kind = Flow::Kind::Value;
  }
  return known;
}

bool EdgeRouter::readsFill(const NodeBlock& reader, std::int32_t fill) const {
  if (reader.kind != NodeKind::Task) return false;
  const Range accesses = graph_.units[static_cast<std::size_t>(reader.item)].accesses;
  const auto first = graph_.accesses.begin() + accesses.begin;
  return std::any_of(first, first + accesses.size(), [&](const UnitAccess& a) { return a.fill == fill; });
}

void EdgeRouter::routeValue(const Flow& flow, const Route& towards, std::int32_t local, std::int32_t row,
                            const NodeBlock& reader, std::vector<Route>& routes) {
  const bool isPeer = towards.to != kOnHost && reader.kind == NodeKind::Fill && readsPeer(local, row, reader);
  if (isPeer && towards.from != kOnHost) {
    routes.push_back(towards);
    return;
  }
  for (const LabelId label : flow.labels) {
    routes.push_back(towards);
    routes.back().copied = label;
    if (isPeer && hasHome(label, local)) routes.back().to = homes_[static_cast<std::size_t>(local)];
  }
}

bool EdgeRouter::hasHome(LabelId label, std::int32_t local) const {
  return !homes_.empty() && !shared_[static_cast<std::size_t>(label)][static_cast<std::size_t>(local)];
}

void EdgeRouter::routeMessage(std::int32_t from, std::int32_t to, const Route& towards,
                              std::vector<Route>& routes) const {
  const std::int32_t number = towards.then - block(to).firstNode;
  const std::int32_t local = block(from).firstLocal + towards.first - block(from).firstNode;
  Route way = towards;
  if (towards.from != kOnHost && packed_.takes(block(to).item + number, from, local)) {
    way.then = added_.node(PlacedKind::Pack, to, number, towards.from);
    way.to = towards.from;
  }
  routes.push_back(way);
}

/// A fill reads what another device has written from there, unless that lies in the memory that it fills,
/// where its readers look for it: then it has to be copied. `local` is the patch it was written on, `row`
/// that of the fill.
bool EdgeRouter::readsPeer(std::int32_t local, std::int32_t row, const NodeBlock& reader) {
  const FillPlan& fill = graph_.fills[static_cast<std::size_t>(reader.item)];
  switch (fill.reach) {
    case Reach::Coarser:
    case Reach::Finer:
      return true;
    case Reach::WholeLevel:
      return fill.shared.size() == 0;
    case Reach::Patch:
      break;
  }
  if (local == row) return false;
  const std::int32_t window = windowOf(reader.item, row);
  return window < 0 || window != windowOf(reader.item, local);
}

std::int32_t EdgeRouter::windowOf(std::int32_t fill, std::int32_t local) {
  const Range shared = graph_.fills[static_cast<std::size_t>(fill)].shared;
  if (shared.size() == 0) return -1;
  std::vector<std::int32_t>& windows = windows_[static_cast<std::size_t>(fill)];
  if (windows.empty()) {
    windows.assign(graphs_.ownPatches.size(), -1);
    for (std::int64_t s = shared.begin; s < shared.end; ++s) {
      for (const std::int32_t member : graphs_.shared[static_cast<std::size_t>(s)].members)
        windows[static_cast<std::size_t>(member)] = static_cast<std::int32_t>(s);
    }
  }
  return windows[static_cast<std::size_t>(local)];
}

}  // namespace tessera::detail
