#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "datawarehouse/archive/field_reader.hpp"
#include "datawarehouse/task_context.hpp"
#include "tools/simulation/output/run_fields.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

/// Before the first step, and after each, a node or face holds the number of steps plus this.
double stampAt(const Level& level, Index x, Centering centering) {
  const Real3 p = level.position(x, centering);
  return 1000.0 * (1 + level.number()) + 1.0 + p.x + 10.0 * p.y;
}

/// Labels on nodes and faces of all levels, which a step changes in place of what it was.
class Bordered : public Component {
 public:
  std::string name() const override { return "bordered"; }
  std::string summary() const override { return "numbers on borders"; }
  bool supportsLevels() const override { return true; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    node_ = setup.labels.variable<double, Node>("node");
    faceX_ = setup.labels.variable<double, FaceX>("face_x");
    faceY_ = setup.labels.variable<double, FaceY>("face_y");
  }
  void declareInitial(StepPlan& plan) const override {
    begin(plan, "Bordered::node", node_);
    begin(plan, "Bordered::faceX", faceX_);
    begin(plan, "Bordered::faceY", faceY_);
  }
  void declareStep(StepPlan& step) const override {
    advance(step, "Bordered::node", node_);
    advance(step, "Bordered::faceX", faceX_);
    advance(step, "Bordered::faceY", faceY_);
  }

 private:
  template <class T, Centering C>
  static void begin(StepPlan& plan, const char* name, Label<T, C> label) {
    plan.task(name).writes(label).template runs<Cpu>([label](const auto& task) {
      const auto out = task.write(label);
      const Level& level = task.level();
      forEach(task.exec(), "begin", task.interior(label),
              [&level, out](Index x) { out(x) = stampAt(level, x, C); });
    });
  }
  template <class T, Centering C>
  static void advance(StepPlan& plan, const char* name, Label<T, C> label) {
    plan.task(name).reads(Old, label).writes(label).template runs<Cpu>([label](const auto& task) {
      const auto in = task.read(Old, label);
      const auto out = task.write(label);
      forEach(task.exec(), "advance", task.interior(label), [in, out](Index x) { out(x) = in(x) + 1.0; });
    });
  }

  Label<double, Node> node_;
  Label<double, FaceX> faceX_;
  Label<double, FaceY> faceY_;
};

Deck deckOf(int steps, const std::string& periodic, const std::string& analysis = "") {
  return Deck::fromText(
      "simulation.components = ['bordered']\ngrid.cells = [16, 8, 1]\n"
      "grid.patches = [3, 2, 1]\ngrid.periodic = " +
          periodic + "\ntime = { dt = 1, max_steps = " + std::to_string(steps) +
          " }\n"
          "[[grid.level]]\nratio = 2\nlower = [0.25, 0.25, 0]\nupper = [0.75, 0.75, 1]\n"
          "patch_size = [4, 3, 1]\n"
          "[[grid.level]]\nlevel = 1\nlower = [0.75, 0, 0]\nupper = [1, 0.5, 1]\n" +
          analysis,
      "deck.toml");
}

/// Every number of a field file.
void expectStamps(const std::filesystem::path& file, const Hierarchy& hierarchy, double steps) {
  const FieldReader reader = FieldReader::open(file);
  const FieldOutput& header = reader.header();
  ASSERT_EQ(header.levels.size(), 2U);
  for (std::size_t field = 0; field < header.fields.size(); ++field) {
    const Centering centering = header.fields[field].centering;
    for (const Level& level : hierarchy.levels()) {
      for (std::size_t n = 0; n < level.patches().size(); ++n) {
        const auto values =
            reader.values(field, static_cast<std::size_t>(level.number()), static_cast<std::int64_t>(n));
        const Box box = valueBox(level.patches()[n].cells, centering);
        std::size_t at = 0;
        for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
          for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
            for (std::int64_t i = box.lo.i; i < box.hi.i; ++i, ++at) {
              ASSERT_EQ(values[at], steps + stampAt(level, {i, j, k}, centering))
                  << header.fields[field].name << " at " << asText(Index{i, j, k}) << " of "
                  << asText(level.patches()[n]);
            }
          }
        }
      }
    }
  }
}

/// Runs some steps on some ranks, from a checkpoint if there is one, and leaves a checkpoint and a file.
std::filesystem::path runTo(int steps, int ranks, const std::string& periodic,
                            const std::filesystem::path& folder, const std::filesystem::path& from) {
  ComponentRegistry registry;
  registry.add([] { return std::make_unique<Bordered>(); });
  std::filesystem::path written;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    const Deck deck = deckOf(steps, periodic);
    const auto made = from.empty()
                          ? std::make_unique<Simulation>(deck, registry, transport, SimulationOptions{})
                          : std::make_unique<Simulation>(deck, registry, transport, SimulationOptions{},
                                                         CheckpointReader::open(from));
    Simulation& simulation = *made;
    simulation.run();
    FieldWriter fields(transport, {folder, -1, "fields", FieldPrecision::Float64});
    const auto file = writeFields(fields, simulation, simulation.model().persistent(), "");
    CheckpointWriter writer(transport, {.folder = folder});
    const CheckpointResult result = writeCheckpoint(writer, simulation);
    EXPECT_TRUE(file.written) << file.failure;
    EXPECT_TRUE(result.committed) << result.failure;
    if (transport.rank() != 0) return;
    written = result.path;
    expectStamps(file.path, simulation.hierarchy(), steps);
  });
  return written;
}

TEST(FieldBorders, HoldWhatThePatchesHaveComputedAlsoAfterARestart) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tessera-borders-" + std::to_string(::getpid()));
  for (const std::string periodic : {"[false, false, false]", "[true, true, false]"}) {
    const auto first = runTo(1, 2, periodic, folder, {});
    ASSERT_FALSE(first.empty());
    runTo(3, 5, periodic, folder, first);
    runTo(2, 1, periodic, folder, first);
    std::filesystem::remove_all(folder);
  }
}

std::string regionOf(const std::string& name, const std::string& field, const std::string& box) {
  return "[[analysis.region]]\nname = '" + name + "'\nfield = '" + field + "'\n" + box;
}

/// The columns of [analysis] after a step, by name.
std::map<std::string, double> analysed(const std::string& analysis, int ranks) {
  ComponentRegistry registry;
  registry.add([] { return std::make_unique<Bordered>(); });
  std::map<std::string, double> columns;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deckOf(1, "[false, false, false]", analysis), registry, transport, {});
    simulation.run();
    const std::vector<double> values = simulation.diagnose();
    if (transport.rank() != 0) return;
    for (std::size_t n = 0; n < values.size(); ++n)
      columns[simulation.model().diagnostics()[n].name] = values[n];
  });
  return columns;
}

/// The mean over the domain of what leaf cells have at their centres: that of linear numbers on their
/// borders.
double meanOfLeaves() {
  const auto isFine = [](double x, double y) {
    return (x > 0.25 && x < 0.75 && y > 0.25 && y < 0.75) || (x > 0.75 && y < 0.5);
  };
  double sum = 0.0;
  for (int j = 0; j < 16; ++j) {
    for (int i = 0; i < 32; ++i) {
      const double x = (i + 0.5) / 32;
      const double y = (j + 0.5) / 16;
      sum += 1.0 + (isFine(x, y) ? 2001.0 : 1001.0) + x + 10.0 * y;
    }
  }
  return sum / 512;
}

TEST(FieldBorders, AreAnalysedSoThatEachPlaceCountsOnceWhereLevelsMeet) {
  std::string regions =
      regionOf("all_x", "face_x", "") + regionOf("all_y", "face_y", "") + regionOf("all_nodes", "node", "");
  // Of the cells below: coarse at 0 and 0.25, from 0.5 on fine ones too. A step has added 1.
  const std::map<std::string, double> sections{
      {"0.0", 1007.0}, {"0.25", 1007.25}, {"0.5", 1507.5}, {"0.75", 1507.75}, {"1.0", 1508.0}};
  for (const auto& [at, mean] : sections)
    regions += regionOf("at_" + at.substr(0, 1) + at.substr(2), "face_x",
                        "lower = [" + at + ", 0, 0]\nupper = [" + at + ", 1, 1]\n");
  const auto found = analysed(regions, 3);
  for (const std::string name : {"all_x", "all_y", "all_nodes"}) {
    EXPECT_NEAR(found.at(name + ".integral"), meanOfLeaves(), 1e-10) << name;
    EXPECT_NEAR(found.at(name + ".mean"), meanOfLeaves(), 1e-10) << name;
  }
  EXPECT_EQ(found.at("all_x.min"), 1002.0 + 10.0 / 16);
  EXPECT_EQ(found.at("all_x.max"), 2002.75 + 10.0 * (0.75 - 1.0 / 32));
  EXPECT_EQ(found.at("all_nodes.min"), 1002.0);
  EXPECT_EQ(found.at("all_nodes.max"), 2002.75 + 7.5);
  for (const auto& [at, mean] : sections) {
    const std::string name = "at_" + at.substr(0, 1) + at.substr(2);
    EXPECT_NEAR(found.at(name + ".integral"), mean, 1e-10) << name;
  }
  EXPECT_EQ(analysed(regions, 1), found);
}

}  // namespace
}  // namespace tessera
