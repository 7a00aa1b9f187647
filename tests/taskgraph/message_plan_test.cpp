#include <map>
#include <random>

#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;

/// Peer, tag and bytes of each message, with the region of each piece as the receiver counts.
using Wire = std::map<std::pair<Rank, std::int64_t>, std::vector<std::pair<std::int64_t, std::int64_t>>>;

Wire sendsTo(const CompiledGraph& graph, Rank peer, const LabelTable& labels) {
  Wire wire;
  for (const MessagePlan& m : graph.sends) {
    if (m.peer != peer) continue;
    auto& pieces = wire[{peer, m.tag}];
    for (std::int64_t p = m.items.begin; p < m.items.end; ++p) {
      const PackItem& item = graph.packItems[static_cast<std::size_t>(p)];
      pieces.emplace_back(item.offset, item.region.volume() * labels.info(item.label).type.bytes());
    }
    pieces.emplace_back(m.bytes, 0);
  }
  return wire;
}

Wire receivesFrom(const CompiledGraph& graph, Rank peer, Rank self, const LabelTable& labels) {
  Wire wire;
  for (const FillPlan& fill : graph.fills) {
    for (const FillPiece& piece : fill.pieces.pool) {
      const MessagePlan& m = graph.receives[static_cast<std::size_t>(piece.message)];
      if (m.peer != peer) continue;
      wire[{self, m.tag}].emplace_back(piece.offset,
                                       piece.region.volume() * labels.info(fill.label).type.bytes());
    }
  }
  for (const MessagePlan& m : graph.receives) {
    if (m.peer != peer) continue;
    auto& pieces = wire[{self, m.tag}];
    std::sort(pieces.begin(), pieces.end());
    pieces.emplace_back(m.bytes, 0);
  }
  return wire;
}

TEST(MessagePlan, WhatARankSendsIsWhatItsPeerExpectsForEveryPair) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto upTo = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    };
    const Extent cells{4 + upTo(12), 1 + upTo(9), 1 + upTo(5)};
    const Extent patches{1 + upTo(4), 1 + upTo(std::min<std::int64_t>(3, cells.j)),
                         1 + upTo(std::min<std::int64_t>(2, cells.k))};
    const auto mesh = test::mesh(cells, patches, {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0});
    LabelTable labels;
    const auto a = labels.variable<double, Cell>("a");
    const auto b = labels.variable<Vec<float, 3>, Node>("b");
    labels.setBoundary(a, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    labels.setBoundary(b, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    const auto layers = [&] {
      return HaloClause{{{upTo(4), upTo(2), upTo(2)}, {upTo(4), upTo(2), upTo(2)}}};
    };
    StepPlan initial("initial");
    initial.task("Test::initial").writes(a).writes(b).runs<Cpu>(NoBody{});
    StepPlan step("step");
    step.task("Test::old").reads(Old, a, layers()).reads(Old, b, layers()).writes(a).runs<Cpu>(NoBody{});
    step.task("Test::new").reads(New, a, layers()).writes(b).runs<Cpu>(NoBody{});
    step.task("Test::last").reads(New, b, layers()).reads(New, a, layers()).runs<Cpu>(NoBody{});
    const int ranks = 1 + static_cast<int>(upTo(8));
    RankMap owners(static_cast<std::size_t>(mesh->patchCount()));
    for (Rank& owner : owners) owner = static_cast<Rank>(upTo(ranks));
    const auto graphs = test::compileAllRanks({&initial, &step}, mesh, labels, owners, ranks);
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        const Wire sent = sendsTo(graphs[static_cast<std::size_t>(from)].plans[1], to, labels);
        const Wire expected = receivesFrom(graphs[static_cast<std::size_t>(to)].plans[1], from, to, labels);
        ASSERT_EQ(sent, expected) << "from rank " << from << " to rank " << to;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
