#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/graph_fuzz/draw_case.hpp"
#include "tests/graph_fuzz/fuzz_run.hpp"
#include "tests/graph_fuzz/program.hpp"

namespace tessera::fuzz {
namespace {

/// A message: its length, and where pieces begin and end.
struct Content {
  std::int64_t bytes = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
  bool forwards = false;  ///< passes on parts of a whole level: one piece for all patches of a rank
  friend bool operator==(const Content& a, const Content& b) {
    return a.bytes == b.bytes && a.pieces == b.pieces;
  }
};
/// By tag.
using Wire = std::map<std::int64_t, Content>;

Wire sendsTo(const CompiledGraph& graph, Rank peer) {
  Wire wire;
  for (const MessagePlan& m : graph.sends) {
    if (m.peer != peer) continue;
    Content& content = wire[m.tag];
    content.bytes += m.bytes;
    for (std::int64_t p = m.items.begin; p < m.items.end; ++p) {
      const PackItem& item = graph.packItems[static_cast<std::size_t>(p)];
      content.pieces.emplace_back(item.offset, item.offset + item.bytes);
      content.forwards = content.forwards || item.source < 0;
    }
  }
  return wire;
}

Wire receivesFrom(const CompiledGraphs& graphs, std::size_t plan, Rank peer) {
  const CompiledGraph& graph = graphs.plans[plan];
  Wire wire;
  for (const MessagePlan& m : graph.receives) {
    if (m.peer == peer) wire[m.tag].bytes += m.bytes;
  }
  const auto add = [&](std::int32_t message, std::int64_t offset, std::int64_t bytes) {
    if (message < 0 || graph.receives[static_cast<std::size_t>(message)].peer != peer) return;
    wire[graph.receives[static_cast<std::size_t>(message)].tag].pieces.emplace_back(offset, offset + bytes);
  };
  for (const FillPlan& fill : graph.fills) {
    const std::int64_t element = graphs.labels->info(fill.label).type.bytes();
    const Level& level = graphs.hierarchy->level(fill.sourceLevel);
    for (const FillPiece& piece : fill.pieces.pool)
      add(piece.message, piece.offset, piece.region.volume() * element);
    for (const CoarsePiece& piece : fill.coarse.pool) {
      const Box fine = shift(piece.region, Index{} - shiftOf(level, piece.image));
      add(piece.message, piece.offset, coarsen(fine, level.ratioToCoarser()).volume() * element);
    }
  }
  for (auto& [tag, content] : wire) std::sort(content.pieces.begin(), content.pieces.end());
  return wire;
}

/// The same bytes without the borders between pieces that touch.
Content joined(Content content) {
  std::vector<std::pair<std::int64_t, std::int64_t>> whole;
  for (const auto& piece : content.pieces) {
    if (!whole.empty() && whole.back().second == piece.first) {
      whole.back().second = piece.second;
    } else {
      whole.push_back(piece);
    }
  }
  content.pieces = whole;
  return content;
}

/// Messages of all pairs of ranks of one plan; 0 where the draw has none.
std::int64_t comparePairs(const std::vector<CompiledGraphs>& ranks, std::size_t plan) {
  std::int64_t messages = 0;
  for (const CompiledGraphs& from : ranks) {
    for (const CompiledGraphs& to : ranks) {
      SCOPED_TRACE("from rank " + std::to_string(from.rank) + " to rank " + std::to_string(to.rank));
      const Wire sent = sendsTo(from.plans[plan], to.rank);
      Wire received = receivesFrom(to, plan, from.rank);
      EXPECT_EQ(sent.size(), received.size());
      for (const auto& [tag, content] : sent) {
        ++messages;
        if (content.forwards) {
          EXPECT_EQ(joined(content), joined(received[tag])) << "tag " << tag;
        } else {
          EXPECT_EQ(content, received[tag]) << "tag " << tag;
        }
      }
    }
  }
  return messages;
}

/// Both sides of every message derive the same plan: halos, coarse-fine halos, gathers and whole levels of
/// one to four levels.
TEST(MessageSymmetry, OnRandomHierarchiesEachSendPlanIsTheReceivePlanOfItsPeerForAllPairs) {
  std::int64_t messages = 0;
  int compiled = 0;
  for (std::int64_t number = 0; compiled < 300; ++number) {
    FuzzCase c = drawCase(17, number);
    c.shapes.resize(1);
    c.shapes[0].ranks = 2 + static_cast<int>(number % 7);
    SCOPED_TRACE(replayLine(17, number, {}) + " on " + std::to_string(c.shapes[0].ranks) + " ranks");
    try {
      const Program program(c);
      const auto graphs = program.compile(c.shapes[0]);
      for (std::size_t plan = 0; plan < c.plans.size(); ++plan) messages += comparePairs(graphs, plan);
      ++compiled;
    } catch (const PlanError&) {
      continue;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(messages, 5'000);
}

}  // namespace
}  // namespace tessera::fuzz
