#include "taskgraph/dump/graph_dump.hpp"

#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "components/component.hpp"
#include "datawarehouse/task_context.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kTagBound = 32767;
constexpr std::size_t kStep = 1;

/// Four patches of four cells in a ring: on four ranks each has one, and two neighbours.
const char* const kRing =
    "grid = { cells = [16, 1, 1], patch_size = [4, 1, 1], periodic = [true, false, false] }\n"
    "simulation.components = ['heat']\n"
    "time.max_steps = 1\n"
    "heat = { conductivity = 1, initial = 'x' }\n";

const char* const kTwoLevels =
    "simulation.components = ['levels']\n"
    "time = { dt = 1, max_steps = 1 }\n"
    "[grid]\ncells = [8, 8, 1]\npatch_size = [4, 4, 1]\n"
    "[[grid.level]]\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\npatch_size = [4, 4, 1]\n";

struct Compiled {
  Model model;
  CompiledGraphs graphs;
  Compiled(const char* deck, int rank, int ranks)
      : model(Deck::fromText(deck, "deck.toml"), builtInComponents()),
        graphs(model.compile(rank, ranks, kTagBound)) {}

  std::string dump(GraphFormat format, int ranks, bool unfolded = false, std::size_t plan = kStep) const {
    GraphDumpOptions options;
    options.ranks = ranks;
    options.unfolded = unfolded;
    return dumpGraph(graphs, plan, format, options);
  }
};

TEST(GraphDump, TheTextOfASmallRankIsWhatAPersonWouldCount) {
  const Compiled c(kRing, 1, 4);

  // A patch with its halo has 4 + 2 values of 8 bytes, in two generations; a message brings one value.
  const std::string text = c.dump(GraphFormat::Text, 4);

  EXPECT_EQ(std::regex_replace(text, std::regex("graph: [0-9]+ bytes|, slack [0-9]+"), ""),
            R"(plan step on rank 1 of 4: 1 patch of 4
2 task instances, 1 fill, 2 sends, 2 receives, 1 reduction, 4 edges
nodes, in an order that can run
    0  receive                  x 2
    1  send                     x 2
    2  halo of Old temperature  x 1, after 0
    3  Heat::advance            x 1, after 2
    4  Heat::stableDt           x 1
    5  reduce stable_dt         x 1, after 4
messages
  rank 0  1 out, 8 bytes; 1 in, 8 bytes
  rank 2  1 out, 8 bytes; 1 in, 8 bytes
  total  2 out, 16 bytes; 2 in, 16 bytes
memory, in bytes
  temperature  96 on 1 patch, Old and New
  variables of this rank  96 (96 without reuse), 1.000 x their distinct bytes
  gathers of other levels  0; in the largest plan 0 (0 without reuse)
  messages  32
  total  128 (128 without reuse)
longest chain: 1 task among 3 nodes
  receive
  -> halo of Old temperature
  -> Heat::advance
carried from plan to plan
  reads Old temperature, which is left by initial, step
  leaves temperature, which is read by step, diagnostics

)");
}

TEST(GraphDump, JsonHasTheNumbersOfTheArrays) {
  for (int rank = 0; rank < 3; ++rank) {
    const Compiled c(kTwoLevels, rank, 3);
    const CompiledGraph& graph = c.graphs.plans[kStep];

    const Json json = Json::parse(c.dump(GraphFormat::Json, 3));

    EXPECT_EQ(json["rank"], rank);
    EXPECT_EQ(json["ranks"], 3);
    EXPECT_EQ(json["levels"], 2);
    EXPECT_EQ(json["edges"], graph.edgeCount());
    EXPECT_EQ(json["nodes"]["send"], graph.sends.size());
    EXPECT_EQ(json["nodes"]["receive"], graph.receives.size());
    EXPECT_EQ(json["messages"]["sends"], graph.sends.size());
    EXPECT_EQ(json["messages"]["receives"], graph.receives.size());
    EXPECT_EQ(json["messages"]["whole_level_receives"], 2);
    std::int64_t nodes = 0;
    for (const Json& count : json["nodes"]) nodes += count.get<std::int64_t>();
    EXPECT_EQ(nodes, graph.nodeCount());
    std::int64_t edges = 0;
    for (const Json& edge : json["block_edges"]) edges += edge["edges"].get<std::int64_t>();
    EXPECT_EQ(edges, json["edges"]);
    std::int64_t sent = 0;
    for (const Json& peer : json["peers"]) sent += peer["send_bytes"].get<std::int64_t>();
    std::int64_t planned = 0;
    for (const MessagePlan& message : graph.sends) planned += message.bytes;
    EXPECT_EQ(sent, planned);
    EXPECT_FALSE(json.contains("instances"));
    EXPECT_FALSE(json.contains("compile_seconds"));
  }
}

TEST(GraphDump, WhatOneRankSendsTheOtherReceives) {
  std::vector<Json> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.push_back(Json::parse(Compiled(kTwoLevels, rank, 3).dump(GraphFormat::Json, 3)));
  for (int a = 0; a < 3; ++a) {
    for (const Json& peer : ranks[static_cast<std::size_t>(a)]["peers"]) {
      for (const Json& back : ranks[peer["rank"].get<std::size_t>()]["peers"]) {
        if (back["rank"] != a) continue;
        EXPECT_EQ(peer["sends"], back["receives"]);
        EXPECT_EQ(peer["send_bytes"], back["receive_bytes"]);
      }
    }
  }
}

TEST(GraphDump, UnfoldedJsonHasEveryNodeAndEdge) {
  const Compiled c(kTwoLevels, 0, 2);
  const CompiledGraph& graph = c.graphs.plans[kStep];

  const Json json = Json::parse(c.dump(GraphFormat::Json, 2, true));

  ASSERT_EQ(json["instances"].size(), static_cast<std::size_t>(graph.nodeCount()));
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(graph.nodeCount()); ++node) {
    const auto successors = json["instances"][static_cast<std::size_t>(node)]["successors"];
    const auto expected = graph.successors(node);
    EXPECT_EQ(successors.get<std::vector<std::int32_t>>(),
              std::vector<std::int32_t>(expected.begin(), expected.end()));
  }
}

TEST(GraphDump, TheLongestChainGoesDownAndUpTheLevels) {
  const Compiled c(kTwoLevels, 0, 1);

  const Json json = Json::parse(c.dump(GraphFormat::Json, 1));

  std::vector<std::string> names;
  for (const Json& block : json["longest_chain"]["blocks"])
    names.push_back(json["blocks"][block.get<std::size_t>()]["name"]);
  EXPECT_EQ(json["longest_chain"]["tasks"], 3);
  EXPECT_THAT(names, ElementsAre("Levels::write on level 1", "finer New levels.stamp on level 0",
                                 "Levels::averageDown on level 0", "coarser New levels.stamp on level 1",
                                 "Levels::fill on level 1"));
}

TEST(GraphDump, CarryOverNamesWhatEachPlanLeavesAndWhoReadsIt) {
  const Compiled c(kTwoLevels, 0, 1);

  const std::string step = c.dump(GraphFormat::Text, 1);
  const std::string diagnostics = c.dump(GraphFormat::Text, 1, false, 2);

  EXPECT_THAT(step, HasSubstr("leaves levels.fill on level 1, which is read by diagnostics\n"));
  EXPECT_THAT(diagnostics, HasSubstr("reads Old levels.stamp on level 0, which is left by initial, step\n"));
}

/// Every line is a node or an edge between known nodes, and quotes are balanced.
void expectDot(const std::string& text, std::size_t nodes) {
  const std::regex node(R"re(  (n\d+) \[label="([^"\\]|\\.)*", shape=[a-z]+\];)re");
  const std::regex edge(R"re(  (n\d+) -> (n\d+)( \[label="\d+"\])?;)re");
  std::set<std::string> known;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "digraph \"step\" {");
  std::getline(in, line);
  EXPECT_EQ(line, "  rankdir=TB;");
  while (std::getline(in, line) && line != "}") {
    std::smatch match;
    if (std::regex_match(line, match, edge)) {
      EXPECT_EQ(known.count(match[1]) + known.count(match[2]), 2U) << line;
    } else {
      ASSERT_TRUE(std::regex_match(line, match, node)) << line;
      EXPECT_TRUE(known.insert(match[1]).second) << line;
    }
  }
  EXPECT_EQ(line, "}");
  EXPECT_FALSE(std::getline(in, line));
  EXPECT_EQ(known.size(), nodes);
}

TEST(GraphDump, DotIsWellFormed) {
  const Compiled c(kTwoLevels, 1, 2);
  const CompiledGraph& graph = c.graphs.plans[kStep];
  std::size_t blocks = 0;
  for (const NodeBlock& block : graph.blocks) blocks += block.count > 0 ? 1 : 0;

  expectDot(c.dump(GraphFormat::Dot, 2), blocks);
  expectDot(c.dump(GraphFormat::Dot, 2, true), static_cast<std::size_t>(graph.nodeCount()));
}

TEST(GraphDump, GraphMlHasEveryNodeAndEdgeOnALine) {
  const Compiled c(kTwoLevels, 1, 2);
  const CompiledGraph& graph = c.graphs.plans[kStep];
  const std::regex node(
      R"re(    <node id="n\d+"><data key="name">[^<]*</data><data key="kind">[a-z]+</data></node>)re");
  const std::regex edge(R"re(    <edge source="n\d+" target="n\d+"><data key="edges">\d+</data></edge>)re");
  std::int64_t nodes = 0;
  std::int64_t edges = 0;

  std::istringstream in(c.dump(GraphFormat::GraphMl, 2, true));

  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, node)) ++nodes;
    if (std::regex_match(line, edge)) ++edges;
  }
  EXPECT_EQ(nodes, graph.nodeCount());
  EXPECT_EQ(edges, graph.edgeCount());
}

TEST(GraphDump, NamesWithQuotesStayInsideOfTheirs) {
  StepPlan plan("step");
  plan.task("Odd::\"name\\\n<&").template runs<Cpu>([](const auto&) {});
  const auto mesh = Hierarchy::uniform({}, {});
  const LabelTable labels;
  const RankMap owners{0};
  const StepPlan* plans[] = {&plan};
  const CompiledGraphs graphs = compileGraphs(plans, {mesh, &labels, &owners, 0});

  EXPECT_EQ(Json::parse(dumpGraph(graphs, 0, GraphFormat::Json, {}))["blocks"][0]["name"],
            "Odd::\"name\\ <&");
  expectDot(dumpGraph(graphs, 0, GraphFormat::Dot, {}), 1);
  EXPECT_THAT(dumpGraph(graphs, 0, GraphFormat::GraphMl, {}), HasSubstr("Odd::&quot;name\\ &lt;&amp;"));
}

}  // namespace
}  // namespace tessera
